// The kinds that promote components, as people write them in YAML (openchoreo.dev/v1alpha1), beside those of which a
// component is made.
//
//   auto objects = read_objects(documents);
//   for (const Error& fault : objects.faults) …     // pin.yaml:9:3: /spec/enviroment: unknown field …
//
// `status` may stand in a Release and in a ReleasePin, and counts for nothing.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "render/component/kinds.h"

namespace sluice::promote {

using component::Defined;
using component::Kind;

struct GitRef {
  std::string repository;
  std::string revision;  // a commit
  std::string path;
};
BOOST_DESCRIBE_STRUCT(GitRef, (), (repository, revision, path))

// What a release holds of a definition: a place in Git, or the definition itself; exactly one of them.
struct Reference {
  std::string name;
  std::optional<std::string> instanceId;
  std::optional<GitRef> gitRef;
  std::optional<json::value> content;
};
BOOST_DESCRIBE_STRUCT(Reference, (), (name, instanceId, gitRef, content))

struct ReleaseSpec {
  Reference component;
  Reference componentTypeDefinition;
  std::vector<Reference> addons;
  json::value workload;
  static constexpr std::string_view kDefaulted[] = {"addons"};
};
BOOST_DESCRIBE_STRUCT(ReleaseSpec, (), (component, componentTypeDefinition, addons, workload))

enum class PinState { Active, Undeploy };
BOOST_DESCRIBE_ENUM(PinState, Active, Undeploy)

// What becomes of fields that others change in the cluster.
enum class PinDrift { report, correct };
BOOST_DESCRIBE_ENUM(PinDrift, report, correct)

struct ReleasePinSpec {
  std::string component;
  std::string environment;
  std::string releaseName;
  PinState state = PinState::Active;
  PinDrift drift = PinDrift::report;
  static constexpr std::string_view kDefaulted[] = {"state", "drift"};
};
BOOST_DESCRIBE_STRUCT(ReleasePinSpec, (), (component, environment, releaseName, state, drift))

struct SourceEnvironment {
  std::optional<std::string> kind;
  std::string name;
};
BOOST_DESCRIBE_STRUCT(SourceEnvironment, (), (kind, name))

struct TargetEnvironment {
  std::optional<std::string> kind;
  std::string name;
  int64_t soakSeconds = 0;  // how long a release has to be ready in the source before it may come here
  int64_t approvals = 0;    // how many other people must agree
  static constexpr std::string_view kDefaulted[] = {"soakSeconds", "approvals"};
};
BOOST_DESCRIBE_STRUCT(TargetEnvironment, (), (kind, name, soakSeconds, approvals))

struct PromotionPath {
  SourceEnvironment sourceEnvironmentRef;
  std::vector<TargetEnvironment> targetEnvironmentRefs;
};
BOOST_DESCRIBE_STRUCT(PromotionPath, (), (sourceEnvironmentRef, targetEnvironmentRefs))

// A time in which nothing is promoted: once, "2026-12-20T00:00" to "2027-01-04T08:00", or each week, "Fri 16:00" to
// "Mon 08:00". In all environments if none is named.
struct Freeze {
  std::string name;
  std::vector<std::string> environments;
  std::string timeZone = "UTC";
  std::string from, until;
  static constexpr std::string_view kDefaulted[] = {"environments", "timeZone"};
};
BOOST_DESCRIBE_STRUCT(Freeze, (), (name, environments, timeZone, from, until))

struct PipelineSpec {
  std::vector<PromotionPath> promotionPaths;
  std::vector<Freeze> freezes;
  int64_t retentionSeconds = 0;  // releases that are younger stay, whatever their number
  static constexpr std::string_view kDefaulted[] = {"freezes", "retentionSeconds"};
};
BOOST_DESCRIBE_STRUCT(PipelineSpec, (), (promotionPaths, freezes, retentionSeconds))

template <class Spec>
struct StatefulKind {
  std::string apiVersion, kind;
  component::Metadata metadata;
  Spec spec;
  std::optional<json::value> status;
};
using ReleaseKind = StatefulKind<ReleaseSpec>;
using ReleasePinKind = StatefulKind<ReleasePinSpec>;
using PipelineKind = StatefulKind<PipelineSpec>;
BOOST_DESCRIBE_STRUCT(ReleaseKind, (), (apiVersion, kind, metadata, spec, status))
BOOST_DESCRIBE_STRUCT(ReleasePinKind, (), (apiVersion, kind, metadata, spec, status))
BOOST_DESCRIBE_STRUCT(PipelineKind, (), (apiVersion, kind, metadata, spec, status))

struct Objects {
  component::Kinds kinds;
  std::map<std::string, Defined<ReleaseKind>, std::less<>> releases;
  std::map<std::string, Defined<ReleasePinKind>, std::less<>> pins;  // by "component/environment"
  std::map<std::string, Defined<PipelineKind>, std::less<>> pipelines;
  std::vector<Error> faults;  // all of them, also those of `kinds`
};

// Each document is one object. What a definition says of its parameters must be a schema, a pipeline has no cycle, and
// a release has exactly one of gitRef and content for each reference.
Objects read_objects(std::vector<Document> documents);

}  // namespace sluice::promote
