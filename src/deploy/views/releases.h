// Views of promotion: `definitions` (what is applied, by kind), `releases`, `release-diff`, `pins`, `pin-history`,
// `release-history`, `pipelines`, `promotion-plan`, `git-sources`.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "lang/run/values.h"
#include "lang/run/view.h"

namespace sluice::deploy::views {

struct DefinitionsQuery {
  std::string kind;  // empty: all
  std::string name;  // empty: all
  static constexpr std::string_view kDefaulted[] = {"kind", "name"};
};
BOOST_DESCRIBE_STRUCT(DefinitionsQuery, (), (kind, name))

// An object as it was applied; a Release and a ReleasePin with their status.
struct DefinedObject {
  std::string kind;
  std::string name;
  lang::DateTime since;
  json::value document;
};
BOOST_DESCRIBE_STRUCT(DefinedObject, (), (kind, name, since, document))

struct ReleasesQuery {
  std::string component;  // empty: all
  std::string release;    // empty: all
  static constexpr std::string_view kDefaulted[] = {"component", "release"};
};
BOOST_DESCRIBE_STRUCT(ReleasesQuery, (), (component, release))

struct ReleaseInPlace {
  std::string environment;
  bool applied = false;
  bool ready = false;
};
BOOST_DESCRIBE_STRUCT(ReleaseInPlace, (), (environment, applied, ready))

struct ReleasePartSeen {
  std::string role, name, digest;
};
BOOST_DESCRIBE_STRUCT(ReleasePartSeen, (), (role, name, digest))

struct ReleaseDocument {
  std::string release;
  std::string component;
  std::string identity;
  std::string image;
  bool ready = false;
  std::string message;
  std::string rejected;  // why; empty if it is not
  std::string by;
  lang::DateTime created_at;
  std::vector<ReleasePartSeen> parts;
  std::vector<ReleaseInPlace> pinned;
};
BOOST_DESCRIBE_STRUCT(ReleaseDocument, (),
                      (release, component, identity, image, ready, message, rejected, by, created_at, parts, pinned))

struct ReleaseDiffQuery {
  std::string left, right;
};
BOOST_DESCRIBE_STRUCT(ReleaseDiffQuery, (), (left, right))

struct ReleaseDifference {
  std::string part;     // "workload checkout"
  std::string pointer;  // into it; empty: the whole part
  json::value left, right;
};
BOOST_DESCRIBE_STRUCT(ReleaseDifference, (), (part, pointer, left, right))

struct PinsQuery {
  std::string component, environment;  // empty: all
  static constexpr std::string_view kDefaulted[] = {"component", "environment"};
};
BOOST_DESCRIBE_STRUCT(PinsQuery, (), (component, environment))

struct PinDocument {
  std::string pin;
  std::string component;
  std::string environment;
  std::string pipeline;
  std::string release;
  std::string state;
  std::string applied_release;
  int64_t generation = 0;
  int64_t observed_generation = 0;
  bool ready = false;
  std::string reason;
  std::string message;
  OrNull<lang::DateTime> ready_at;
  std::string deployment;
  std::string revision;
  OrNull<int64_t> held;  // the entry of the history that it went back to
  std::vector<std::string> rejected;
  std::string on_drift;            // report or correct
  std::vector<std::string> drift;  // "Deployment/shop .spec.replicas (kubectl)"
};
BOOST_DESCRIBE_STRUCT(PinDocument, (),
                      (pin, component, environment, pipeline, release, state, applied_release, generation,
                       observed_generation, ready, reason, message, ready_at, deployment, revision, held, rejected,
                       on_drift, drift))

struct PinHistoryQuery {
  std::string pin;
};
BOOST_DESCRIBE_STRUCT(PinHistoryQuery, (), (pin))

struct LockSecretSeen {
  std::string variable, name, version;
};
BOOST_DESCRIBE_STRUCT(LockSecretSeen, (), (variable, name, version))

struct LockSchemaSeen {
  std::string database;
  int64_t version = 0;
  std::string phase;
};
BOOST_DESCRIBE_STRUCT(LockSchemaSeen, (), (database, version, phase))

// A sluice.release-lock.v1.
struct LockDocument {
  std::string schema;
  int64_t number = 0;
  std::string release;
  std::string identity;
  std::string artifact_digest;
  std::string settings_digest;
  std::string config_digest;
  std::vector<LockSecretSeen> secrets;
  OrNull<LockSchemaSeen> schema_of_storage;
  std::string rendered_digest;
  json::value objects;
  std::string deployment;
  std::string revision;
  std::string by;  // who moved the pin there; empty: it followed settings or secrets
  lang::DateTime at;
};
BOOST_DESCRIBE_STRUCT(LockDocument, (),
                      (schema, number, release, identity, artifact_digest, settings_digest, config_digest, secrets,
                       schema_of_storage, rendered_digest, objects, deployment, revision, by, at))

struct ReleaseHistoryQuery {
  std::string component, environment;  // empty: all
  static constexpr std::string_view kDefaulted[] = {"component", "environment"};
};
BOOST_DESCRIBE_STRUCT(ReleaseHistoryQuery, (), (component, environment))

// What ran where: an entry of a pin's history, or a release that a pin rejected.
struct ReleaseEvent {
  lang::DateTime at;
  std::string component, environment;
  std::string kind;  // ran, rejected
  std::string release;
  int64_t entry = 0;  // of the pin's history; 0 for what was rejected
  std::string by;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(ReleaseEvent, (), (at, component, environment, kind, release, entry, by, reason))

struct PipelinesQuery {};
BOOST_DESCRIBE_STRUCT(PipelinesQuery, (), ())

struct PipelineStageSeen {
  std::string environment;
  bool root = false;  // nothing leads there
};
BOOST_DESCRIBE_STRUCT(PipelineStageSeen, (), (environment, root))

struct PipelineTargetSeen {
  std::string from, to;
  int64_t soak_seconds = 0;
  int64_t approvals = 0;
};
BOOST_DESCRIBE_STRUCT(PipelineTargetSeen, (), (from, to, soak_seconds, approvals))

struct PipelineDocument {
  std::string pipeline;
  bool stopped = false;
  std::string reason;
  std::vector<std::string> paths;  // "dev -> staging"
  std::vector<PipelineStageSeen> stages;
  std::vector<PipelineTargetSeen> targets;
};
BOOST_DESCRIBE_STRUCT(PipelineDocument, (), (pipeline, stopped, reason, paths, stages, targets))

struct PromotionPlanQuery {
  std::vector<std::string> components;  // none: all that the source has
  std::string fromEnv, toEnv;
  static constexpr std::string_view kDefaulted[] = {"components"};
};
BOOST_DESCRIBE_STRUCT(PromotionPlanQuery, (), (components, fromEnv, toEnv))

struct PlannedDifference {
  std::string object;   // "Deployment/shop"
  std::string pointer;  // into it; empty: all of it
  json::value now, then;
};
BOOST_DESCRIBE_STRUCT(PlannedDifference, (), (object, pointer, now, then))

struct PlannedPromotion {
  std::string component;
  std::string release;
  std::string before;    // the release that the target runs; empty: none
  std::string fault;     // why it does not render there; empty: it does
  std::string rendered;  // the digest of its objects
  std::vector<PlannedDifference> differences;
};
BOOST_DESCRIBE_STRUCT(PlannedPromotion, (), (component, release, before, fault, rendered, differences))

struct GitSourcesQuery {};
BOOST_DESCRIBE_STRUCT(GitSourcesQuery, (), ())

// A pin that is not what the branch says: one that went back, or was set by somebody else since.
struct OutOfSyncPin {
  std::string pin;
  std::string says, is;  // releases
  std::string rejected;  // why the environment rejected what the branch says; empty if it did not
};
BOOST_DESCRIBE_STRUCT(OutOfSyncPin, (), (pin, says, is, rejected))

struct GitSourceDocument {
  std::string source, url, branch, path;
  bool prune = false;
  std::string status;  // waiting, synced, OutOfSync, refused, failed
  std::string commit, applied, message, by;
  OrNull<lang::DateTime> looked_at;
  std::vector<OutOfSyncPin> out_of_sync;
};
BOOST_DESCRIBE_STRUCT(GitSourceDocument, (),
                      (source, url, branch, path, prune, status, commit, applied, message, by, looked_at, out_of_sync))

// What they read; they are in deploy/promotion/, which alone knows how releases are rendered.
Result<std::vector<DefinedObject>> read_definitions(const lang::Reading& reading, const DefinitionsQuery& query);
Result<std::vector<ReleaseDocument>> read_releases(const lang::Reading& reading, const ReleasesQuery& query);
Result<std::vector<ReleaseDifference>> read_release_diff(const lang::Reading& reading, const ReleaseDiffQuery& query);
Result<std::vector<PinDocument>> read_pins(const lang::Reading& reading, const PinsQuery& query);
Result<std::vector<LockDocument>> read_pin_history(const lang::Reading& reading, const PinHistoryQuery& query);
Result<std::vector<ReleaseEvent>> read_release_history(const lang::Reading& reading, const ReleaseHistoryQuery& query);
Result<std::vector<PipelineDocument>> read_pipelines(const lang::Reading& reading, const PipelinesQuery& query);
Result<std::vector<PlannedPromotion>> read_promotion_plan(const lang::Reading& reading,
                                                          const PromotionPlanQuery& query);

Result<std::vector<GitSourceDocument>> read_git_sources(const lang::Reading& reading, const GitSourcesQuery& query);

std::vector<lang::View> releases_views();

}  // namespace sluice::deploy::views
