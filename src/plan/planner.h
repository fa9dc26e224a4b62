// The planner: what a manifest asks for, against what is there, gives what changes and the graph that makes it so. It
// reads no disk and no store; whoever calls it has looked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "plan/app_manifest.h"
#include "plan/graph.h"

namespace sluice::plan {

// What a component's bundle is, as somebody has built it.
struct Offered {
  std::string archive;  // "sha256:…"
  std::string signature;
  std::string bundle;  // its name
  std::string version;
  std::string tree;                // "sha256:…", its identity
  std::vector<std::string> hosts;  // its own routes
  std::vector<std::string> path_prefixes;
  std::optional<Transport> transport;
  std::optional<int64_t> spec_version;  // @version of its `.concept`
  std::vector<std::string> storages;    // in which its programs keep things
  // The version of each secret that its programs would get, by variable; "missing" if nobody has put it.
  std::map<std::string, std::string> secrets = {};
  // What becomes of the schema of its database, by the name of the migration.
  std::map<std::string, std::string> migrations = {};
};
inline constexpr std::string_view kMissingSecret = "missing";

// What runs of a component now.
struct Running {
  std::string deployment;
  std::string revision;  // that gets most; empty: none does
  std::string version;
  std::string archive;
  std::string tree;
  json::value settings = json::object();  // that it was staged with
  json::value runtime_refs = json::object();
  std::vector<std::string> hosts;
  std::vector<std::string> path_prefixes;
  std::optional<int64_t> spec_version;
  bool shares = false;                              // others get something, too
  std::optional<uint32_t> replicas;                 // that the last manifest said
  std::optional<uint32_t> scaled;                   // that somebody has said since
  std::optional<json::value> health;                // that the last manifest said
  std::map<std::string, std::string> secrets = {};  // the versions that its programs have, by variable
};

// What the last manifest of the environment had, and this one has not.
struct Leaving {
  std::string component;
  std::string deployment;
  std::string version;
  std::vector<std::string> needs;
};

struct KitRule {
  std::string name;
  bool integration = false;
  std::vector<std::string> concepts;  // that it names
  std::string external;               // the kit that an integration needs
  std::string digest;                 // of its text
};

struct KitOffer {
  std::string name;
  std::string version;
  std::vector<KitRule> rules;
  std::map<std::string, std::string> active;  // digests of the rules that are active, by name
};

// Where telemetry of an environment goes, as `observability:` says. There is one for each provider, in the order of
// their names.
struct Observed {
  std::string provider;  // otlp, grafana or datadog
  std::string endpoint;
  double samplingRate = 1;
  std::string key;  // "env:NAME": where it is read from
  std::string propagation = "w3c";
  bool conceptSpans = true;
  bool syncSpans = true;
  bool markers = true;  // whether it is told of deployments
  bool operator==(const Observed&) const = default;
};
BOOST_DESCRIBE_STRUCT(Observed, (),
                      (provider, endpoint, samplingRate, key, propagation, conceptSpans, syncSpans, markers))

struct Situation {
  std::string environment;
  std::map<std::string, std::string> packs;  // bound in the environment, by slot: "sluice.deployer.local-process@1.0.0"
  std::map<std::string, Offered> offered;    // by component
  std::map<std::string, Running> running;    // by component
  std::vector<Leaving> leaving;
  std::vector<KitOffer> kits;
  std::map<std::string, std::string> deployed;  // kits and apps that plans have brought here, with their versions
  std::vector<std::string> only;                // of these components; all if it is empty
  std::vector<Observed> observed;               // as the last manifest of this app has said
};

enum class ChangeSign { create, change, remove, keep };
BOOST_DESCRIBE_ENUM(ChangeSign, create, change, remove, keep)

struct FieldChange {
  std::string name;
  std::string before;
  std::string after;
  bool operator==(const FieldChange&) const = default;
};
BOOST_DESCRIBE_STRUCT(FieldChange, (), (name, before, after))

struct Change {
  ChangeSign sign = ChangeSign::keep;
  std::string component;
  std::string kit;  // empty: of none
  std::vector<FieldChange> fields;
};
BOOST_DESCRIBE_STRUCT(Change, (), (sign, component, kit, fields))

struct Planned {
  Graph graph;
  std::vector<Change> changes;
  std::vector<Observed> observed;
  // Why there is no plan; at most one of them has something.
  std::vector<std::string> missing;
  std::vector<std::string> cycle;
  std::vector<std::string> mismatches;
  std::vector<std::string> warnings;
};

// The document is the manifest's, for the places of what is refused.
Planned make_plan(const AppManifest& manifest, const Document& document, const Situation& situation);

// The routes that a component is to have: those that the manifest says, else its bundle's own.
struct WantedRoutes {
  std::vector<std::string> hosts;
  std::vector<std::string> path_prefixes;
};
WantedRoutes routes_of(const Component& component, const Offered& offered);

}  // namespace sluice::plan
