// AppManifest is an app.deploy.yaml: what an app is made of, where its parts run, what differs between environments,
// and how a new version gets its traffic. A component is a service with a folder, a bundle or an image; a concept is a
// component that may name its `.concept`.
//
//   auto parsed = parse_app_manifest(text, "app.deploy.yaml", {.environment = "local", .variables = variables});
//   for (const Error& fault : parsed.faults) …   // app.deploy.yaml:3:7: /components/shop/prot: unknown field …
//   auto local = resolve_overlays(*parsed.document, "local");
//
// Every fault is told at once. The document keeps the place of each value, so that whoever refuses one later can say
// where it stands.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/json_fields.h"
#include "base/result.h"

namespace sluice::plan {

constexpr std::string_view kAppManifestName = "app.deploy.yaml";
constexpr size_t kMaxManifestBytes = size_t{16} << 20;
constexpr size_t kMaxExtends = 8;

struct App {
  std::string name;
  std::string version;
  bool operator==(const App&) const = default;
};
BOOST_DESCRIBE_STRUCT(App, (), (name, version))

// Concepts and syncs in a folder with a suite.yaml. An override names another file for one of its syncs. Without a path
// it is a kit, or an app, that others deploy, and that this app needs.
struct Kit {
  std::string name;
  std::optional<std::string> path;
  std::optional<std::string> version;
  std::map<std::string, std::string> overrides;
  static constexpr std::string_view kDefaulted[] = {"overrides"};
  bool operator==(const Kit&) const = default;
};
BOOST_DESCRIBE_STRUCT(Kit, (), (name, path, version, overrides))

enum class Transport { http, http2, tcp, unix, stdio };
BOOST_DESCRIBE_ENUM(Transport, http, http2, tcp, unix, stdio)

// Where components run: the type is that of a deployer pack.
struct Runtime {
  std::optional<std::string> type;
  std::optional<bool> engine;
  std::optional<std::string> storage;
  std::optional<Transport> transport;
  std::optional<uint32_t> cpu;
  std::optional<uint32_t> memory;
  std::optional<uint32_t> minInstances;
  std::optional<uint32_t> maxInstances;
  bool operator==(const Runtime&) const = default;
};
BOOST_DESCRIBE_STRUCT(Runtime, (), (type, engine, storage, transport, cpu, memory, minInstances, maxInstances))

struct Route {
  std::optional<std::string> host;  // any host if it is left out
  std::string path = "/";
  static constexpr std::string_view kDefaulted[] = {"path"};
  bool operator==(const Route&) const = default;
};
BOOST_DESCRIBE_STRUCT(Route, (), (host, path))

// One deployable part of the app. `folder` is built when the plan is made, `bundle` is an archive that was built
// before; paths begin at the manifest's folder.
struct Component {
  std::optional<std::string> folder;
  std::optional<std::string> bundle;
  std::optional<std::string> image;
  std::optional<std::string> spec;  // the `.concept` that it implements
  std::optional<std::string> kit;   // under which it is shown
  std::optional<std::string> runtime;
  std::optional<std::string> storage;
  std::optional<std::string> query;
  std::optional<Transport> transport;
  std::optional<std::string> customer;
  std::vector<Route> routes;
  std::vector<std::string> needs;  // the components that must serve before it starts
  std::map<std::string, json::value> settings;
  std::map<std::string, std::string> runtimeRefs;
  std::optional<uint32_t> replicas;
  std::optional<json::value> health;
  static constexpr std::string_view kDefaulted[] = {"routes", "needs", "settings", "runtimeRefs"};
  bool operator==(const Component&) const = default;
};
BOOST_DESCRIBE_STRUCT(Component, (),
                      (folder, bundle, image, spec, kit, runtime, storage, query, transport, customer, routes, needs,
                       settings, runtimeRefs, replicas, health))

// Where an environment's secrets are; which of the fields counts, the provider says.
struct Secrets {
  std::string provider;
  std::optional<std::string> path;
  std::optional<std::string> prefix;
  bool operator==(const Secrets&) const = default;
};
BOOST_DESCRIBE_STRUCT(Secrets, (), (provider, path, prefix))

struct RolloutStep {
  double weight = 0;              // per cent of the requests
  std::optional<uint32_t> pause;  // seconds at that weight
  bool operator==(const RolloutStep&) const = default;
};
BOOST_DESCRIBE_STRUCT(RolloutStep, (), (weight, pause))

struct Analysis {
  std::optional<uint32_t> interval;
  std::optional<double> maxErrorRate;
  std::optional<uint32_t> maxLatencyP99;
  bool operator==(const Analysis&) const = default;
};
BOOST_DESCRIBE_STRUCT(Analysis, (), (interval, maxErrorRate, maxLatencyP99))

struct Rollout {
  std::string strategy;  // canary, blue-green, rolling or immediate
  std::vector<RolloutStep> steps;
  std::optional<Analysis> analysis;
  std::optional<bool> autoRollback;
  std::optional<uint32_t> after;  // seconds for which it is judged at 100 per cent
  std::optional<uint32_t> batch;  // rolling: how many replicas are replaced at a time
  std::optional<uint32_t> pause;  // rolling: seconds with each batch
  static constexpr std::string_view kDefaulted[] = {"steps"};
  bool operator==(const Rollout&) const = default;
};
BOOST_DESCRIBE_STRUCT(Rollout, (), (strategy, steps, analysis, autoRollback, after, batch, pause))

struct Iac {
  std::string provider;
  std::optional<std::string> stateBackend;
  bool operator==(const Iac&) const = default;
};
BOOST_DESCRIBE_STRUCT(Iac, (), (provider, stateBackend))

struct GitOps {
  std::string controller;
  std::optional<std::string> repo;
  std::optional<std::string> path;
  bool operator==(const GitOps&) const = default;
};
BOOST_DESCRIBE_STRUCT(GitOps, (), (controller, repo, path))

struct Infrastructure {
  std::optional<Iac> iac;
  std::optional<GitOps> gitops;
  bool operator==(const Infrastructure&) const = default;
};
BOOST_DESCRIBE_STRUCT(Infrastructure, (), (iac, gitops))

struct MarkerBackend {
  std::string type;
  std::optional<std::string> apiKey;  // stays a ${VARIABLE}: its value is in no record
  std::optional<std::string> endpoint;
  bool operator==(const MarkerBackend&) const = default;
};
BOOST_DESCRIBE_STRUCT(MarkerBackend, (), (type, apiKey, endpoint))

struct DeployMarkers {
  bool enabled = true;
  std::vector<MarkerBackend> backends;
  static constexpr std::string_view kDefaulted[] = {"enabled", "backends"};
  bool operator==(const DeployMarkers&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeployMarkers, (), (enabled, backends))

struct Tracing {
  std::optional<std::string> propagation;
  std::optional<bool> conceptSpans;
  std::optional<bool> syncSpans;
  std::optional<bool> storageSpans;
  bool operator==(const Tracing&) const = default;
};
BOOST_DESCRIBE_STRUCT(Tracing, (), (propagation, conceptSpans, syncSpans, storageSpans))

struct Observability {
  std::optional<std::string> provider;
  std::optional<std::string> endpoint;
  std::optional<double> samplingRate;
  std::optional<DeployMarkers> deployMarkers;
  std::optional<Tracing> tracing;
  bool operator==(const Observability&) const = default;
};
BOOST_DESCRIBE_STRUCT(Observability, (), (provider, endpoint, samplingRate, deployMarkers, tracing))

struct Migrations {
  std::optional<bool> autoExpand;
  std::optional<bool> autoMigrate;
  std::optional<bool> autoContract;
  std::optional<bool> backupBefore;
  std::optional<uint32_t> contractApprovals;
  bool operator==(const Migrations&) const = default;
};
BOOST_DESCRIBE_STRUCT(Migrations, (), (autoExpand, autoMigrate, autoContract, backupBefore, contractApprovals))

// What an environment says otherwise than the rest of the manifest. Of a component only what differs is named.
struct Overlay {
  std::optional<std::map<std::string, Runtime>> runtimes;
  std::optional<std::map<std::string, Component>> components;
  std::optional<std::map<std::string, Component>> concepts;
  std::optional<json::value> rollout;
  std::optional<Infrastructure> infrastructure;
  std::optional<Observability> observability;
  std::optional<Migrations> migrations;
  bool operator==(const Overlay&) const = default;
};
BOOST_DESCRIBE_STRUCT(Overlay, (), (runtimes, components, concepts, rollout, infrastructure, observability, migrations))

struct EnvironmentOverlay : Overlay {
  std::optional<std::string> extends;
  std::optional<Overlay> overrides;
  std::optional<Secrets> secrets;
  bool operator==(const EnvironmentOverlay&) const = default;
};
BOOST_DESCRIBE_STRUCT(EnvironmentOverlay, (Overlay), (extends, overrides, secrets))

// After a node has failed: undo what was done, or leave it for people to look at.
enum class OnFailure { rollback, stop };
BOOST_DESCRIBE_ENUM(OnFailure, rollback, stop)
// While another plan of the environment runs: wait for its end, or end it first.
enum class Concurrency { queue, supersede };
BOOST_DESCRIBE_ENUM(Concurrency, queue, supersede)

struct AppManifest {
  App app;
  std::vector<Kit> kits;
  std::map<std::string, Runtime> runtimes;
  std::map<std::string, Component> concepts;
  std::map<std::string, Component> components;
  std::map<std::string, EnvironmentOverlay> environments;
  std::optional<Rollout> rollout;
  std::optional<Infrastructure> infrastructure;
  std::optional<Observability> observability;
  std::optional<Migrations> migrations;
  std::optional<Secrets> secrets;  // those of the environment that was resolved
  OnFailure onFailure = OnFailure::rollback;
  Concurrency concurrency = Concurrency::queue;
  static constexpr std::string_view kDefaulted[] = {"kits",         "runtimes",  "concepts",   "components",
                                                    "environments", "onFailure", "concurrency"};
  bool operator==(const AppManifest&) const = default;
};
BOOST_DESCRIBE_STRUCT(AppManifest, (),
                      (app, kits, runtimes, concepts, components, environments, rollout, infrastructure, observability,
                       migrations, secrets, onFailure, concurrency))

struct ManifestSource {
  std::string environment;                                                      // what ${environment} stands for
  std::function<std::optional<std::string>(const std::string&)> variable = {};  // nothing: variables stay as they are
};

struct ParsedManifest {
  std::optional<AppManifest> manifest;  // none if there are faults
  Document document;                    // with variables in their places
  std::vector<Error> faults;            // in the order of the file
  // The variables that stand in it, but for those of secrets, with their values: whoever reads it elsewhere needs them.
  std::map<std::string, std::string> used;
};

ParsedManifest parse_app_manifest(std::string_view text, const std::string& file, const ManifestSource& source);

// The manifest as it is in one environment: the overlays of what it extends, then its own, over the rest. An
// environment that the manifest does not name has no overlay.
struct Resolved {
  AppManifest manifest = {};
  json::value root = {};  // the same as a tree
  // Where each value that an overlay says comes from, by its JSON pointer: "environments/staging/overrides".
  std::map<std::string, std::string> origins = {};
};
enum class ResolveFault { missing_base, conflicting, too_deep, invalid };
struct Unresolved {
  ResolveFault fault;
  std::vector<std::string> details;
};
struct ResolveOutcome {
  std::optional<Resolved> resolved;
  std::optional<Unresolved> unresolved;
};
ResolveOutcome resolve_overlays(const Document& document, const std::string& environment);

// By value, with where each comes from: "/components/shop/replicas: 1 (app.deploy.yaml) | 3 (environments/prod)".
std::vector<std::string> differences(const Resolved& a, const std::string& name_a, const Resolved& b,
                                     const std::string& name_b);

// The JSON Schema (draft 2020-12) of app.deploy.yaml.
json::value app_manifest_schema();

// What `sluice init --manifest` writes: an app of these components, by name and folder.
std::string app_manifest_template(const std::string& app,
                                  const std::vector<std::pair<std::string, std::string>>& components);

}  // namespace sluice::plan
