// What commands print of their own with --output json: what they did to local files, and sums of several answers. Each
// is a described struct, from which the JSON and its schema (`sluice schema NOUN VERB`) come. What is the answer of an
// action or a view is described by its concept or its view. Members are added with time, never renamed or removed.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/json_fields.h"
#include "base/json_writer.h"
#include "lang/run/values.h"

namespace sluice::cli::outputs {

using Texts = std::vector<std::string>;

// ------------------------------------------------------------------------------------------------ of several nouns

// What a dry run says that something would be lost.
struct Loss {
  std::string would;
  Texts loses;
};
BOOST_DESCRIBE_STRUCT(Loss, (), (would, loses))

// What `apply` did to one object: + made, ~ changed, = as it was.
struct AppliedChange {
  std::string sign;
  std::string kind;
  std::string name;
};
BOOST_DESCRIBE_STRUCT(AppliedChange, (), (sign, kind, name))

struct Differences {
  std::string a;
  std::string b;
  Texts differences;
};
BOOST_DESCRIBE_STRUCT(Differences, (), (a, b, differences))

// Beside what Revision/stage answers.
struct StagedIn {
  std::string deployment;
};
BOOST_DESCRIBE_STRUCT(StagedIn, (), (deployment))

// ------------------------------------------------------------------------------------------------------------ kit

struct KitCheck {
  uint64_t errors = 0, warnings = 0, concepts = 0, syncs = 0, guards = 0;
  std::vector<json::value> diagnostics;
};
BOOST_DESCRIBE_STRUCT(KitCheck, (), (errors, warnings, concepts, syncs, guards, diagnostics))

struct KitFormatted {
  Texts changed;
  Texts broken;
  std::vector<json::value> diagnostics;
  uint64_t files = 0;
};
BOOST_DESCRIBE_STRUCT(KitFormatted, (), (changed, broken, diagnostics, files))

struct KitBegun {
  std::string kit;
  Texts files;
};
BOOST_DESCRIBE_STRUCT(KitBegun, (), (kit, files))

struct KitListed {
  std::string name, version, folder, description;
  uint64_t errors = 0, warnings = 0;
};
BOOST_DESCRIBE_STRUCT(KitListed, (), (name, version, folder, description, errors, warnings))

struct Field {
  std::string name, type;
};
BOOST_DESCRIBE_STRUCT(Field, (), (name, type))

struct Variant {
  std::string name;
  std::vector<Field> fields;
};
BOOST_DESCRIBE_STRUCT(Variant, (), (name, fields))

struct Action {
  std::string name, runs, callers;
  OrNull<std::string> right;
  OrNull<std::string> effect;
  std::vector<Field> params;
  std::vector<Variant> variants;
  Texts guardedBy, startedBy, matchedBy, answeredBy;
};
BOOST_DESCRIBE_STRUCT(Action, (),
                      (name, runs, callers, right, effect, params, variants, guardedBy, startedBy, matchedBy,
                       answeredBy))

struct Concept {
  std::string name, file, purpose;
  std::vector<Action> actions;
};
BOOST_DESCRIBE_STRUCT(Concept, (), (name, file, purpose, actions))

struct Sync {
  std::string name, alias, tier, kit, file, purpose;
  bool eventual = false;
  bool active = false;
  std::optional<bool> derived;
  std::optional<std::string> why;
  std::optional<std::string> replaces;
  Texts waitsFor, starts;
};
BOOST_DESCRIBE_STRUCT(Sync, (),
                      (name, alias, tier, kit, file, purpose, eventual, active, derived, why, replaces, waitsFor,
                       starts))

struct Guard {
  std::string name, kit, file, purpose, binds, refusesWith;
  bool active = false;
  std::optional<std::string> why;
};
BOOST_DESCRIBE_STRUCT(Guard, (), (name, kit, file, purpose, binds, refusesWith, active, why))

struct AbsentConcept {
  std::string name, why;
};
BOOST_DESCRIBE_STRUCT(AbsentConcept, (), (name, why))

struct Cycle {
  std::string path;
  bool outside = false;
  bool loop = false;
};
BOOST_DESCRIBE_STRUCT(Cycle, (), (path, outside, loop))

struct Kit {
  std::string name, version, description;
  std::vector<Concept> concepts;
  std::vector<AbsentConcept> absent;
  std::vector<Sync> syncs;
  std::vector<Guard> guards;
  std::vector<Cycle> cycles;
};
BOOST_DESCRIBE_STRUCT(Kit, (), (name, version, description, concepts, absent, syncs, guards, cycles))

// A call of `kit run` that has ended; of a query there is no flow.
struct CallEnded {
  std::optional<std::string> flow;
  std::optional<std::string> invocation;
  std::string variant;
  json::value fields;
  std::optional<bool> maybeDone;
  std::optional<uint64_t> position;
  std::optional<std::string> state;
  std::optional<uint64_t> followUpsPending;
};
BOOST_DESCRIBE_STRUCT(CallEnded, (), (flow, invocation, variant, fields, maybeDone, position, state, followUpsPending))

struct CallOpen {
  std::string flow, invocation, state, waitsFor;
};
BOOST_DESCRIBE_STRUCT(CallOpen, (), (flow, invocation, state, waitsFor))

struct FlowState {
  std::string flow, state;
};
BOOST_DESCRIBE_STRUCT(FlowState, (), (flow, state))

struct PackCheck {
  std::string check;
  bool ok = false;
  std::string fault;
};
BOOST_DESCRIBE_STRUCT(PackCheck, (), (check, ok, fault))

struct PackTested {
  std::vector<PackCheck> checks;
  uint64_t failed = 0;
};
BOOST_DESCRIBE_STRUCT(PackTested, (), (checks, failed))

struct PackSigned {
  std::string file, digest, key;
};
BOOST_DESCRIBE_STRUCT(PackSigned, (), (file, digest, key))

// --------------------------------------------------------------------------------------------------------- bundles

struct Begun {
  std::string file;
  std::optional<std::string> name;
  std::optional<Texts> run;
  std::optional<std::string> listen;
};
BOOST_DESCRIBE_STRUCT(Begun, (), (file, name, run, listen))

struct SkippedFile {
  std::string path, reason;
};
BOOST_DESCRIBE_STRUCT(SkippedFile, (), (path, reason))

struct BundleBuilt {
  std::string bundle, version, file, sidecar, tree, archive;
  uint64_t entries = 0, bytes = 0, archiveBytes = 0;
  std::string key;
  std::vector<SkippedFile> skipped;
  uint64_t allowedSecrets = 0;
  Texts warnings;
};
BOOST_DESCRIBE_STRUCT(BundleBuilt, (),
                      (bundle, version, file, sidecar, tree, archive, entries, bytes, archiveBytes, key, skipped,
                       allowedSecrets, warnings))

struct ArchivedFile {
  std::string path, type, mode;
  std::optional<uint64_t> size;
  std::optional<std::string> sha256;
  std::optional<std::string> target;
};
BOOST_DESCRIBE_STRUCT(ArchivedFile, (), (path, type, mode, size, sha256, target))

struct BundleInspected {
  std::string file, format, tree, archive;
  uint64_t entries = 0, bytes = 0, archiveBytes = 0;
  Texts signatures;
  std::optional<std::string> bundle;
  std::optional<std::string> version;
  std::optional<std::vector<ArchivedFile>> files;
};
BOOST_DESCRIBE_STRUCT(BundleInspected, (),
                      (file, format, tree, archive, entries, bytes, archiveBytes, signatures, bundle, version, files))

struct BundleSigned {
  std::string file, sidecar, bundle, key;
  uint64_t signatures = 0;
};
BOOST_DESCRIBE_STRUCT(BundleSigned, (), (file, sidecar, bundle, key, signatures))

struct BundleVerified {
  std::string file, bundle, version, env, tree, archive;
  Texts keys;
};
BOOST_DESCRIBE_STRUCT(BundleVerified, (), (file, bundle, version, env, tree, archive, keys))

struct SecretFound {
  std::string path;
  uint64_t line = 0;
  std::string kind, hash;
};
BOOST_DESCRIBE_STRUCT(SecretFound, (), (path, line, kind, hash))

struct BundleExamined {
  std::string file;
  uint64_t files = 0;
  std::vector<SecretFound> findings;
  uint64_t allowed = 0;
  Texts notLookedInto;
};
BOOST_DESCRIBE_STRUCT(BundleExamined, (), (file, files, findings, allowed, notLookedInto))

struct FileChange {
  std::string change, path, detail;
};
BOOST_DESCRIBE_STRUCT(FileChange, (), (change, path, detail))

struct BundleDiff {
  std::string before, after;
  std::vector<FileChange> changes;
};
BOOST_DESCRIBE_STRUCT(BundleDiff, (), (before, after, changes))

struct BundleExtracted {
  std::string folder, tree;
  uint64_t entries = 0, bytes = 0;
};
BOOST_DESCRIBE_STRUCT(BundleExtracted, (), (folder, tree, entries, bytes))

struct BundlePushed {
  std::string file, bundle, version, reference, digest;
  bool onlySignatures = false;
};
BOOST_DESCRIBE_STRUCT(BundlePushed, (), (file, bundle, version, reference, digest, onlySignatures))

struct BundlePulled {
  std::string file, reference, digest, archive;
  uint64_t signatures = 0;
};
BOOST_DESCRIBE_STRUCT(BundlePulled, (), (file, reference, digest, archive, signatures))

// -------------------------------------------------------------------------------------------------- what runs here

struct InstanceStopped {
  std::string instance, component, name;
  uint64_t replicas = 0;
  bool stopped = false;
  std::optional<std::string> flow;
};
BOOST_DESCRIBE_STRUCT(InstanceStopped, (), (instance, component, name, replicas, stopped, flow))

// What the control plane says of itself, and what runs.
struct Status {
  bool running = false;
  std::optional<std::string> socket, url, fingerprint;
  std::optional<int64_t> pid;
  std::optional<std::string> version;
  std::optional<lang::DateTime> since;
  std::optional<std::string> kit, kitFolder, storePath;
  std::optional<int64_t> storeBytes, position, openFlows;
  std::optional<std::string> trouble;
  std::optional<std::vector<json::value>> environments;
  std::optional<json::value> clock;
};
BOOST_DESCRIBE_STRUCT(Status, (),
                      (running, socket, url, fingerprint, pid, version, since, kit, kitFolder, storePath, storeBytes,
                       position, openFlows, trouble, environments, clock))

struct RouterStopped {
  std::string name;
  int64_t pid = 0;
};
BOOST_DESCRIBE_STRUCT(RouterStopped, (), (name, pid))

struct Stopped {
  bool stopped = false;
  std::optional<int64_t> pid;
  std::optional<std::vector<RouterStopped>> routers;
  std::optional<uint64_t> replicas;
};
BOOST_DESCRIBE_STRUCT(Stopped, (), (stopped, pid, routers, replicas))

// A replica of the control plane.
struct KnownReplica {
  std::string name, url;
  bool leads = false;
  int64_t silentMs = 0;
};
BOOST_DESCRIBE_STRUCT(KnownReplica, (), (name, url, leads, silentMs))

struct JoinToken {
  std::string token, expires, url;
};
BOOST_DESCRIBE_STRUCT(JoinToken, (), (token, expires, url))

struct Joined {
  std::string joined;
};
BOOST_DESCRIBE_STRUCT(Joined, (), (joined))

struct RouterToken {
  std::string token, expires, url, environment;
};
BOOST_DESCRIBE_STRUCT(RouterToken, (), (token, expires, url, environment))

struct RouterJoined {
  std::string joined;  // the control plane's URL
  std::string name, environment;
};
BOOST_DESCRIBE_STRUCT(RouterJoined, (), (joined, name, environment))

struct RouterRemoved {
  std::string removed, machine;
};
BOOST_DESCRIBE_STRUCT(RouterRemoved, (), (removed, machine))

struct ConsoleLink {
  std::string url, expires;
};
BOOST_DESCRIBE_STRUCT(ConsoleLink, (), (url, expires))

struct Weight {
  std::string revision;
  int64_t weightBps = 0;
};
BOOST_DESCRIBE_STRUCT(Weight, (), (revision, weightBps))

struct Up {
  std::string deployment, bundle, revision, name;
  bool changed = false;
  std::vector<Weight> weights;
  Texts urls;
};
BOOST_DESCRIBE_STRUCT(Up, (), (deployment, bundle, revision, name, changed, weights, urls))

// What a router answers of itself (router/router_report.h).
struct RoutedReplica {
  std::string address;
  int64_t in_flight = 0, idle = 0, ejected = 0;
};
BOOST_DESCRIBE_STRUCT(RoutedReplica, (), (address, in_flight, idle, ejected))

struct RoutedLatency {
  int64_t p50 = 0, p99 = 0;
};
BOOST_DESCRIBE_STRUCT(RoutedLatency, (), (p50, p99))

enum class RoutedState { ready, draining };
BOOST_DESCRIBE_ENUM(RoutedState, ready, draining)

struct RoutedRevision {
  std::string id;
  RoutedState state = {};
  int64_t weight_bps = 0, requests = 0, in_flight = 0, websockets = 0;
  std::map<std::string, int64_t> status;
  int64_t retries = 0, failures = 0, bytes_in = 0, bytes_out = 0;
  RoutedLatency latency_us;
  std::vector<int64_t> latency_counts;
  std::vector<RoutedReplica> replicas;
};
BOOST_DESCRIBE_STRUCT(RoutedRevision, (),
                      (id, state, weight_bps, requests, in_flight, websockets, status, retries, failures, bytes_in,
                       bytes_out, latency_us, latency_counts, replicas))

enum class RoutedStatus { active, paused };
BOOST_DESCRIBE_ENUM(RoutedStatus, active, paused)

struct RoutedDeployment {
  std::string id;
  int64_t generation = 0;
  RoutedStatus status = {};
  std::vector<RoutedRevision> revisions;
};
BOOST_DESCRIBE_STRUCT(RoutedDeployment, (), (id, generation, status, revisions))

struct Quarantined {
  std::string deployment, reason;
};
BOOST_DESCRIBE_STRUCT(Quarantined, (), (deployment, reason))

struct RouterState {
  int64_t patches = 0, bytes = 0;
  std::string error;
};
BOOST_DESCRIBE_STRUCT(RouterState, (), (patches, bytes, error))

struct RouterBounds {
  int64_t version = 0;
  OrNull<lang::DateTime> expires_at;
  std::string error;
};
BOOST_DESCRIBE_STRUCT(RouterBounds, (), (version, expires_at, error))

struct RouterCounters {
  bool kept = false;
  std::string error;
};
BOOST_DESCRIBE_STRUCT(RouterCounters, (), (kept, error))

struct RouterAccessLog {
  int64_t dropped_bytes = 0;
};
BOOST_DESCRIBE_STRUCT(RouterAccessLog, (), (dropped_bytes))

enum class RouterRedis { none, connected, down };
BOOST_DESCRIBE_ENUM(RouterRedis, none, connected, down)

struct RouterPins {
  RouterRedis redis = {};
  std::string error;
  int64_t lookups = 0, hits = 0, misses = 0, timeouts = 0, failures = 0, writes = 0;
};
BOOST_DESCRIBE_STRUCT(RouterPins, (), (redis, error, lookups, hits, misses, timeouts, failures, writes))

struct RouterStats {
  bool ok = false;
  std::string router, name;
  int64_t pid = 0, worker_pid = 0;
  std::string environment;
  int64_t generation = 0;
  std::string digest;
  int64_t uptime_s = 0, threads = 0, connections = 0, idle_connections = 0, held = 0;
  std::vector<Quarantined> quarantined;
  RouterState state;
  OrNull<RouterBounds> bounds;
  RouterCounters counters;
  RouterAccessLog access_log;
  RouterPins pins;
  std::vector<RoutedDeployment> deployments;
};
BOOST_DESCRIBE_STRUCT(RouterStats, (),
                      (ok, router, name, pid, worker_pid, environment, generation, digest, uptime_s, threads,
                       connections, idle_connections, held, quarantined, state, bounds, counters, access_log, pins,
                       deployments))

// ---------------------------------------------------------------------------------------------------- environments

struct EnvironmentExported {
  std::string file;
  Texts archives;
};
BOOST_DESCRIBE_STRUCT(EnvironmentExported, (), (file, archives))

struct EnvironmentChange {
  std::string change;  // "+", "~" or "-"
  std::string what;
};
BOOST_DESCRIBE_STRUCT(EnvironmentChange, (), (change, what))

struct EnvironmentApplied {
  std::string environment;
  std::vector<EnvironmentChange> changes;
};
BOOST_DESCRIBE_STRUCT(EnvironmentApplied, (), (environment, changes))

struct ConfigStaged {
  std::string deployment, revision, name;
  bool fresh = false;
};
BOOST_DESCRIBE_STRUCT(ConfigStaged, (), (deployment, revision, name, fresh))

struct DebugToken {
  std::string token, environment, deployment, revision;
  lang::DateTime expires;
};
BOOST_DESCRIBE_STRUCT(DebugToken, (), (token, environment, deployment, revision, expires))

struct RegistryLogin {
  std::string host, secret;
  lang::DateTime since;
};
BOOST_DESCRIBE_STRUCT(RegistryLogin, (), (host, secret, since))

struct RouterUpgraded {
  std::string name, binary;
  int64_t worker_pid = 0, before_pid = 0;
};
BOOST_DESCRIBE_STRUCT(RouterUpgraded, (), (name, binary, worker_pid, before_pid))

struct TlsTrust {
  std::string authority, file, fingerprint;
  Texts trusted_by;
};
BOOST_DESCRIBE_STRUCT(TlsTrust, (), (authority, file, fingerprint, trusted_by))

// ---------------------------------------------------------------------------------------------- flows, audit, access

struct Decided {
  std::string flow;
  uint64_t position = 0;
  std::string state;
};
BOOST_DESCRIBE_STRUCT(Decided, (), (flow, position, state))

struct Position {
  uint64_t position = 0;
};
BOOST_DESCRIBE_STRUCT(Position, (), (position))

struct LoggedIn {
  std::string context, url, caller;
};
BOOST_DESCRIBE_STRUCT(LoggedIn, (), (context, url, caller))

struct KnownContext {
  std::string name;
  OrNull<std::string> url;  // null: the home on this machine
  bool current = false;
};
BOOST_DESCRIBE_STRUCT(KnownContext, (), (name, url, current))

struct KnownContexts {
  std::vector<KnownContext> contexts;
};
BOOST_DESCRIBE_STRUCT(KnownContexts, (), (contexts))

struct ContextUsed {
  std::string context;
};
BOOST_DESCRIBE_STRUCT(ContextUsed, (), (context))

struct BoundsSigned {
  std::string file;
  int64_t version = 0;
  std::string key;
};
BOOST_DESCRIBE_STRUCT(BoundsSigned, (), (file, version, key))

struct BoundsVerified {
  int64_t version = 0;
  std::string environment;
  OrNull<std::string> expires_at;
  Texts signers;
  std::string digest;
};
BOOST_DESCRIBE_STRUCT(BoundsVerified, (), (version, environment, expires_at, signers, digest))

// ------------------------------------------------------------------------------------------------------------ mesh

struct MeshFaults {
  Texts faults;
};
BOOST_DESCRIBE_STRUCT(MeshFaults, (), (faults))

struct MeshBegun {
  std::string folder, name;
  Texts files;
};
BOOST_DESCRIBE_STRUCT(MeshBegun, (), (folder, name, files))

struct MeshKeys {
  std::string folder;
  Texts files;
};
BOOST_DESCRIBE_STRUCT(MeshKeys, (), (folder, files))

struct MeshDrafts {
  std::string folder;
  Texts drafts;
};
BOOST_DESCRIBE_STRUCT(MeshDrafts, (), (folder, drafts))

struct MeshSigned {
  std::string folder;
  Texts signers, files;
  std::map<std::string, uint64_t> versions;
  Texts waiting;
};
BOOST_DESCRIBE_STRUCT(MeshSigned, (), (folder, signers, files, versions, waiting))

struct MeshBundle {
  std::string node, file, passphrase;
};
BOOST_DESCRIBE_STRUCT(MeshBundle, (), (node, file, passphrase))

struct MeshPublished {
  std::string mesh;
  Texts changed, held, gone;
};
BOOST_DESCRIBE_STRUCT(MeshPublished, (), (mesh, changed, held, gone))

struct VerifiedArtifact {
  std::string artifact;
  uint64_t version = 0;
  Texts signed_by;
  OrNull<std::string> expires_at;
};
BOOST_DESCRIBE_STRUCT(VerifiedArtifact, (), (artifact, version, signed_by, expires_at))

struct MeshVerified {
  std::vector<VerifiedArtifact> artifacts;
};
BOOST_DESCRIBE_STRUCT(MeshVerified, (), (artifacts))

struct NodeEnrolled {
  std::string scope, node;
  uint64_t version = 0;
  std::string folder;
};
BOOST_DESCRIBE_STRUCT(NodeEnrolled, (), (scope, node, version, folder))

struct NodeConfirmed {
  std::string scope;
};
BOOST_DESCRIBE_STRUCT(NodeConfirmed, (), (scope))

// ------------------------------------------------------------------------------------------------------------ help

struct HelpOption {
  std::string name, help;
  std::optional<std::string> letter, value;
  std::optional<Texts> choices;
  std::optional<std::string> default_;
  std::optional<bool> repeated;
};
BOOST_DESCRIBE_STRUCT(HelpOption, (), (name, help, letter, value, choices, default_, repeated))

struct HelpArg {
  std::string name, help;
  bool required = false;
  std::optional<Texts> choices;
  std::optional<bool> repeated;
};
BOOST_DESCRIBE_STRUCT(HelpArg, (), (name, help, required, choices, repeated))

struct HelpCommand {
  std::string name, summary;
  std::string usage;
  std::vector<HelpArg> args;
  std::vector<HelpOption> options;
  std::string example;
  std::optional<Texts> formats;
};
BOOST_DESCRIBE_STRUCT(HelpCommand, (), (name, summary, usage, args, options, example, formats))

struct HelpNoun {
  std::string name, summary;
  Texts verbs;
};
BOOST_DESCRIBE_STRUCT(HelpNoun, (), (name, summary, verbs))

struct HelpTopic {
  std::string topic, summary, text;
  std::vector<json::value> rows;
};
BOOST_DESCRIBE_STRUCT(HelpTopic, (), (topic, summary, text, rows))

struct Help {
  std::vector<HelpNoun> nouns;
  std::vector<HelpCommand> commands;
  std::vector<HelpOption> global_options;
  Texts topics;
};
BOOST_DESCRIBE_STRUCT(Help, (), (nouns, commands, global_options, topics))

}  // namespace sluice::cli::outputs
