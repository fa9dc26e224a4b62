// The steps of a request, in their order. What each has done is in the rows of its objects, so that a request that
// stops says how far it came, and a step that runs again does only what is left.
#include <algorithm>
#include <stdexcept>

#include "base/json.h"
#include "deploy/concepts/cluster/cluster_rows.h"
#include "deploy/executor/cluster_means.h"
#include "deploy/executor/inventory_lock.h"
#include "deploy/executor/rendered.h"
#include "deploy/executor/snapshot.h"
#include "deploy/executor/survey.h"
#include "kube/order.h"

namespace sluice::deploy::cluster {
namespace {

using executor::ClusterMeans;
using executor::Piece;
using executor::Refusal;

const std::string kWorks = "applying";
// Longer than this program takes to end.
constexpr int64_t kLeft_ms = 15'000;

bool is_wanted(const Piece& piece) {
  return piece.action == "added" || piece.action == "modified" || piece.action == "unchanged";
}
bool goes(const Piece& piece) { return piece.action == "pruned" || piece.action == "deleted"; }

// The first wave after this one.
std::optional<int64_t> wave_after(const std::vector<Piece>& pieces, int64_t wave) {
  std::optional<int64_t> next;
  for (const Piece& each : pieces) {
    if (is_wanted(each) && each.wave > wave && (!next || each.wave < *next)) next = each.wave;
  }
  return next;
}

std::vector<ClusterDoneItem> done_of(const std::vector<Piece>& pieces) {
  std::vector<ClusterDoneItem> done;
  for (const Piece& each : pieces) {
    done.push_back({.number = each.number, .state = each.state, .message = each.message, .uid = each.uid});
  }
  return done;
}

// Whether somebody has cancelled the request: before this step began, or since.
std::function<std::string()> stop_of(Effect& effect, const std::string& id) {
  lang::ReadOnlyRows rows(effect.read().rows_of("Cluster"));
  const State state(rows);
  auto record = state.get(ClusterId(id));
  const bool before = record && record->cancelled;
  return [&effect, id, before]() -> std::string {
    const bool cancelled = before || effect.tool<ClusterMeans>().is_cancelled(id) || effect.cancelled();
    return cancelled ? "it was cancelled; what was applied stays" : "";
  };
}

void fail(State& state, const ClusterId& id, const std::string& why, const std::string& message) {
  state.edit(id, [&](ClusterRecord& record) { record.problem = {.why = why, .message = message}; });
}

std::string words_of(const ClusterResource& row) {
  if (row.state == "failed") return row.kind + "/" + row.name + " failed: " + row.message;
  std::string action = row.action;
  if (!action.empty()) action[0] = static_cast<char>(action[0] - 'a' + 'A');
  return action + " " + row.kind + "/" + row.name;
}

// Notes what became of objects, with an event for each that has come further. The events are written all at once: a
// push has to look for the last one, which takes long after thousands.
void note(State& state, const ClusterId& id, const std::vector<ClusterDoneItem>& done) {
  auto rows = state.resources(id);
  std::vector<ClusterEvent> told;
  for (const ClusterDoneItem& each : done) {
    auto row = rows.at(each.number);
    if (!row) continue;
    const bool moved = row->state == "pending" && each.state != "pending" && row->action != "unchanged";
    row->state = each.state;
    row->message = each.message;
    if (!each.uid.empty()) row->uid = each.uid;
    rows.put(each.number, *row);
    if (moved || each.state == "failed") {
      told.push_back({.at = state.now(),
                      .status = kWorks,
                      .message = words_of(*row),
                      .apiVersion = row->apiVersion,
                      .kind = row->kind,
                      .namespace_ = row->namespace_,
                      .name = row->name});
    }
  }
  if (told.empty()) return;
  auto events = state.events(id);
  std::vector<ClusterEvent> all = events.values();
  all.insert(all.end(), told.begin(), told.end());
  events.assign(all);
}

// The end of a step: what was done is noted; an engine's outcome is why the request stops.
template <class Action>
typename Action::Outcome finish_step(const ClusterId& id, const typename Action::Outcome& outcome, State& state) {
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) {
    const std::string why = end->outcome == lang::EngineOutcome::cancelled ? "cancelled" : "kubernetesFailed";
    fail(state, id, why, end->message);
    typename Action::Stopped stopped{.operation = id, .why = why, .message = end->message};
    return stopped;
  }
  if (const auto* stopped = get_if<typename Action::Stopped>(&outcome)) {
    if constexpr (requires { stopped->done; }) note(state, id, stopped->done);
    fail(state, id, stopped->why, stopped->message);
  }
  return outcome;
}

executor::Stage stage_of(ClusterMeans& means, kube::Client& client, const executor::Request& request,
                         const rendering::Taint& taint, Effect& effect) {
  return {client, means.clock(), request, taint, stop_of(effect, request.id), [&means] { return means.is_leaving(); }};
}

// What apply, ready and prune have in common: the cluster and what was kept, then the work itself.
template <class Action>
typename Action::Stopped stopped_at(const StepWork& work, const Refusal& refusal, const std::vector<Piece>& pieces) {
  return {
      .operation = ClusterId(work.request.id), .why = refusal.why, .message = refusal.message, .done = done_of(pieces)};
}

StepWork step_of(const ClusterId& id, const ClusterRecord& record) {
  return {.request = request_of(id, record),
          .snapshot = record.snapshot,
          .timeout_ms = record.request.waitForRollout ? record.request.timeoutSeconds * 1000 : 0};
}

using Do =
    std::function<std::optional<Refusal>(const executor::Stage&, const executor::Snapshot&, std::vector<Piece>&)>;

std::optional<Refusal> run(const StepWork& work, Effect& effect, std::vector<Piece>& pieces, const Do& act) {
  auto& means = effect.tool<ClusterMeans>();
  auto client = means.client();
  if (!client) return executor::refusal_of("kubernetesFailed", client.error());
  executor::Snapshot kept;
  if (!work.snapshot.empty()) {
    auto read = executor::read_snapshot(means, work.request.environment, snapshot_name(work.snapshot));
    if (!read) return executor::refusal_of("kubernetesFailed", read.error());
    kept = *std::move(read);
    executor::label(kept.objects, work.request.labels());
  }
  for (const std::string& each : work.hidden) hide(means, work.request.environment, each, kept.taint);
  return act(stage_of(means, **client, work.request, kept.taint, effect), kept, pieces);
}

// ---- prepare

struct Prepared {
  ClusterFacts facts;
  std::vector<Piece> pieces;
};

executor::Tried<Prepared> prepare_removal(ClusterMeans& means, const kube::Policy& policy,
                                          const executor::Request& request) {
  Prepared prepared{.facts = {.deployerId = policy.deployerId, .noop = means.is_noop()}};
  if (prepared.facts.noop) return prepared;
  auto client = means.client();
  if (!client) return executor::refusal_of("kubernetesFailed", client.error());
  auto inventory = executor::inventory_of(**client, policy, request);
  if (!inventory) return inventory.refusal();
  if (std::string holder = executor::holder_of(*inventory, means.clock(), request); !holder.empty()) {
    return Refusal{"busy", holder};
  }
  if (inventory->objects.empty() && inventory->version.empty()) {
    return Refusal{"notFound", "there is no instance " + request.instance + " of the host " + request.host + " in " +
                                   request.name_space};
  }
  kube::Pruned pruned{.removed = inventory->objects.size(), .tracked = inventory->objects.size()};
  for (const kube::Tracked& each : inventory->objects) {
    Piece piece = executor::piece_of(each.ref);
    piece.action = "deleted";
    piece.state = "pending";
    piece.uid = each.uid;
    pruned.kinds.push_back(each.ref.kind);
    prepared.pieces.push_back(std::move(piece));
  }
  std::string why = kube::override_needed_for_all(policy.prune, pruned);
  if (!why.empty() && !request.prune_override) return Refusal{"requiresOverride", why + "; nothing was changed"};
  auto locked = executor::lock_taken(**client, means.clock(), policy, request, *std::move(inventory));
  if (!locked) return locked.refusal();
  return prepared;
}

// The cluster's part of preparing what is to be applied; the lock is taken at its end.
std::optional<Refusal> meet(ClusterMeans& means, const kube::Policy& policy, const PrepareWork& work,
                            executor::Rendered& wanted, std::vector<Piece>& pieces,
                            const std::function<std::optional<Refusal>()>& keep) {
  const executor::Request& request = work.request;
  auto client = means.client();
  if (!client) return executor::refusal_of("kubernetesFailed", client.error());
  auto inventory = executor::inventory_of(**client, policy, request);
  if (!inventory) return inventory.refusal();
  if (std::string holder = executor::holder_of(*inventory, means.clock(), request); !holder.empty()) {
    return Refusal{"busy", holder};
  }
  auto seen = executor::surveyed(**client, request, wanted, {.force = request.force, .new_ones = work.dryRun});
  if (!seen) return seen.refusal();
  if (auto conflict = executor::conflict_among(*seen)) return conflict;
  const size_t tracked = inventory->objects.size();
  for (executor::Seen& each : *seen) {
    each.piece.state = each.piece.action == "unchanged" ? "applied" : "pending";
    pieces.push_back(std::move(each.piece));
  }
  const std::vector<Piece> rest = executor::superfluous(*inventory, pieces, policy);
  if (std::string why = executor::override_for(policy, rest, tracked); !why.empty() && !request.prune_override) {
    return Refusal{"requiresOverride", why + "; nothing was changed"};
  }
  if (work.dryRun) {
    for (Piece& each : pieces) each.state.clear();
  }
  const size_t wanted_pieces = pieces.size();
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  if (work.dryRun) return std::nullopt;
  if (auto refusal = keep()) return refusal;
  // Before the first object is touched the inventory lists them all: whatever happens then, nothing is forgotten.
  std::map<kube::ObjectRef, std::string> listed;
  for (const kube::Tracked& each : inventory->objects) listed[each.ref] = each.uid;
  for (size_t i = 0; i < wanted_pieces; ++i) listed.emplace(pieces[i].ref(), pieces[i].uid);
  inventory->objects.clear();
  for (const auto& [ref, uid] : listed) inventory->objects.push_back({ref, uid});
  for (size_t i = 0; i < wanted_pieces; ++i) {
    const Piece& piece = pieces[i];
    if (piece.kind != "Namespace" || piece.name != request.name_space || piece.action != "added") continue;
    auto made = (*client)->apply(wanted.objects[i], {.manager = std::string(rendering::kManager)});
    if (!made) return executor::refusal_of("kubernetesFailed", made.error());
    if (made->failure) return Refusal{"kubernetesFailed", made->failure->message};
  }
  auto locked = executor::lock_taken(**client, means.clock(), policy, request, *std::move(inventory));
  if (!locked) return locked.refusal();
  return std::nullopt;
}

// The secrets that a request's values refer to. Throws if they are gone.
executor::KnownSecrets opened(const PrepareWork& work, Effect& effect) {
  executor::KnownSecrets secrets;
  if (!work.secrets) return secrets;
  auto all = parse_json_value(effect.open(*work.secrets));
  if (!all) throw std::runtime_error(to_string(all.error()));
  for (const auto& each : kube::map_at(*all, {})) {
    if (each.value().is_string()) secrets.emplace(each.key(), each.value().get_string());
  }
  return secrets;
}

executor::Tried<executor::Rendered> wanted_by(ClusterMeans& means, const kube::Policy& policy, const PrepareWork& work,
                                              Effect& effect) {
  const executor::Request& request = work.request;
  if (!work.snapshot.empty()) {
    auto kept = executor::read_snapshot(means, request.environment, snapshot_name(work.snapshot));
    if (!kept) return executor::refusal_of("noSnapshot", kept.error());
    executor::label(kept->objects, request.labels());
    if (auto denied = executor::denial_of_objects(policy, kept->objects)) return *denied;
    return executor::Rendered{.objects = std::move(kept->objects),
                              .manifest_hash = kept->manifest_hash,
                              .values_hash = kept->values_hash,
                              .runtime_values_hash = kept->runtime_values_hash,
                              .commit = kept->commit,
                              .taint = std::move(kept->taint),
                              .secrets = std::move(kept->secrets)};
  }
  auto text = means.safe().get(request.environment, request_name(request.id));
  if (!text) return executor::refusal_of("renderFailed", text.error());
  auto sent = executor::read_sent(*text);
  if (!sent) return executor::refusal_of("renderFailed", sent.error());
  try {
    sent->secrets = opened(work, effect);
  } catch (const std::exception& error) {
    return Refusal{"renderFailed", std::string("the secrets that it refers to cannot be read: ") + error.what()};
  }
  return executor::rendered(means, policy, request, *sent);
}

executor::Tried<Prepared> prepare_wanted(ClusterMeans& means, const kube::Policy& policy, const PrepareWork& work,
                                         Effect& effect) {
  const executor::Request& request = work.request;
  if (request.force && !policy.allowForce) {
    return Refusal{"policyDenied", "taking over fields of others is not allowed; nothing was changed"};
  }
  auto wanted = wanted_by(means, policy, work, effect);
  if (!wanted) return wanted.refusal();
  Prepared prepared{.facts = {.deployerId = policy.deployerId,
                              .noop = means.is_noop(),
                              .manifestHash = wanted->manifest_hash,
                              .valuesHash = wanted->values_hash,
                              .runtimeValuesHash = wanted->runtime_values_hash,
                              .commit = wanted->commit,
                              .snapshot = work.dryRun             ? ""
                                          : work.snapshot.empty() ? request.id
                                                                  : work.snapshot}};
  const auto keep = [&]() -> std::optional<Refusal> {
    if (!work.snapshot.empty()) return std::nullopt;
    auto kept = executor::write_snapshot(means, effect.read(), request.environment, snapshot_name(request.id), *wanted,
                                         effect.id());
    if (kept) return std::nullopt;
    return executor::refusal_of("kubernetesFailed", kept.error());
  };
  if (prepared.facts.noop) {
    auto pieces = executor::pieces_of(wanted->objects);
    if (!pieces) return pieces.refusal();
    for (Piece& each : *pieces) {
      each.action = "added";
      each.state = work.dryRun ? "" : "ready";
    }
    prepared.pieces = *std::move(pieces);
    if (!work.dryRun) {
      if (auto refusal = keep()) return *refusal;
    }
    return prepared;
  }
  if (auto refusal = meet(means, policy, work, *wanted, prepared.pieces, keep)) return *refusal;
  return prepared;
}

std::vector<ClusterPiece> told(const std::vector<Piece>& pieces) {
  std::vector<ClusterPiece> all;
  for (const Piece& each : pieces) {
    int64_t wave = each.wave;
    if (goes(each)) {
      const json::object like{{"apiVersion", each.api_version}, {"kind", each.kind}};
      auto known = kube::wave_of(like);
      wave = known ? *known : 2;
    }
    all.push_back({.apiVersion = each.api_version,
                   .kind = each.kind,
                   .namespace_ = each.name_space,
                   .name = each.name,
                   .wave = wave,
                   .action = each.action,
                   .state = each.state,
                   .message = each.message,
                   .uid = each.uid});
  }
  return all;
}

// What was found is written down; from now on the request is accepted.
template <class Found>
void accept(const ClusterId& id, const Found& found, bool accepted, State& state) {
  state.edit(id, [&](ClusterRecord& record) {
    record.accepted = accepted;
    if (accepted) record.status = ClusterStatus::applying;
    record.deployerId = found.facts.deployerId;
    record.noop = found.facts.noop;
    record.manifestHash = found.facts.manifestHash;
    record.valuesHash = found.facts.valuesHash;
    record.runtimeValuesHash = found.facts.runtimeValuesHash;
    record.commit = found.facts.commit;
    record.snapshot = found.facts.snapshot;
  });
  std::vector<ClusterResource> rows;
  for (const ClusterPiece& each : found.pieces) {
    rows.push_back({.apiVersion = each.apiVersion,
                    .kind = each.kind,
                    .namespace_ = each.namespace_,
                    .name = each.name,
                    .wave = each.wave,
                    .action = each.action,
                    .state = each.state,
                    .message = each.message,
                    .uid = each.uid});
  }
  state.resources(id).assign(rows);
  if (accepted) tell(state, id, kWorks, "deployment request accepted");
}

// How far a request came that was accepted.
std::string progress(const State& state, const ClusterId& id) {
  size_t done = 0, all = 0;
  for (const Piece& each : pieces_of(state, id)) {
    if (!is_wanted(each) && !goes(each)) continue;
    ++all;
    if (each.state == "ready" || each.state == "gone") ++done;
  }
  return all == 0 ? "" : "; " + std::to_string(done) + " of " + std::to_string(all) + " objects are done";
}

// The snapshot to go back to: the one that is named, else the one before the newest deployment. After a deployment that
// failed that is the last one that went well, else the one before it. Empty: there is none.
std::string snapshot_to_restore(const State& state, const ClusterId& id, const ClusterRecord& record) {
  auto instance = state.get(record.instance);
  const std::string current = instance && instance->current ? instance->current->text() : "";
  if (record.request.rollbackSnapshotId.empty() && !left_half_done(state, record.instance, id).empty()) return current;
  std::string before;
  for (const auto& each : state.snapshots(record.instance)) {
    const std::string name = each.value.snapshot.text();
    if (!record.request.rollbackSnapshotId.empty()) {
      if (name == record.request.rollbackSnapshotId) return name;
    } else if (name == current) {
      return before;
    } else {
      before = name;
    }
  }
  return "";
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------ keep

Keep::Begun Cluster::begin_keep(const Keep& ask, State& state) {
  const ClusterRecord record = state.get(ask.operation).value_or(ClusterRecord{});
  return KeepWork{.request = request_of(ask.operation, record),
                  .values = ask.values,
                  .runtimeValues = ask.runtimeValues,
                  .files = ask.files};
}

Keep::Performed Cluster::perform_keep(const KeepWork& work, Effect& effect) {
  auto& means = effect.tool<ClusterMeans>();
  const executor::Request& request = work.request;
  const ClusterId id(request.id);
  const auto stopped = [&](const std::string& why, const std::string& message) {
    return Keep::Stopped{.operation = id, .why = why, .message = message};
  };
  auto sent = executor::read_sent("", "", "");
  // An attempt before this one may have kept it, and what came with the call may be gone since.
  if (auto text = means.safe().get(request.environment, request_name(request.id))) {
    sent = executor::read_sent(*text);
    if (!sent) return stopped("renderFailed", to_string(sent.error()));
  } else {
    std::string texts[3];
    try {
      size_t i = 0;
      for (const auto* each : {&work.values, &work.runtimeValues, &work.files}) {
        if (*each) texts[i] = effect.open(**each);
        ++i;
      }
    } catch (const std::exception&) {
      return stopped("renderFailed", "Sluice ended before the values were kept; send the request again");
    }
    sent = executor::read_sent(texts[0], texts[1], texts[2]);
    if (!sent) return stopped("invalid", to_string(sent.error()));
    auto kept = means.safe().put(effect.read(), request.environment, request_name(request.id),
                                 executor::write_sent(*sent), effect.id());
    if (!kept) return stopped("kubernetesFailed", to_string(kept.error()));
  }
  auto secrets = executor::secrets_wanted(*sent, request.environment);
  if (!secrets) return stopped("invalid", to_string(secrets.error()));
  if (secrets->empty()) return Keep::Ok{.operation = id};
  // No secret is read for what will not be deployed.
  if (auto policy = executor::admitted(means, request); !policy) {
    return stopped(policy.refusal().why, policy.refusal().message);
  }
  Keep::Wants wants{.operation = id,
                    .environment = request.environment,
                    .reader = request.instance,
                    .purpose = "deploying it to a cluster, request " + request.id};
  for (const executor::SecretWanted& each : *secrets) {
    wants.wanted.push_back({.variable = each.reference, .name = each.name, .version = ""});
  }
  return wants;
}

Keep::Outcome Cluster::finish_keep(const Keep& ask, const Keep::Outcome& outcome, State& state) {
  return finish_step<Keep>(ask.operation, outcome, state);
}

// --------------------------------------------------------------------------------------------------------- prepare

Prepare::Begun Cluster::begin_prepare(const Prepare& ask, State& state) {
  auto record = state.get(ask.operation);
  if (!record) {
    return Prepare::Result(Prepare::Stopped{.operation = ask.operation, .why = "notFound", .message = "it is gone"});
  }
  if (ask.missing) {
    fail(state, ask.operation, "renderFailed", *ask.missing);
    return Prepare::Result(
        Prepare::Stopped{.operation = ask.operation, .why = "renderFailed", .message = *ask.missing});
  }
  PrepareWork work{
      .request = request_of(ask.operation, *record), .dryRun = record->request.dryRun, .secrets = ask.secrets};
  if (record->action == ClusterAction::rollback) {
    work.snapshot = snapshot_to_restore(state, ask.operation, *record);
    if (work.snapshot.empty()) {
      const std::string& wanted = record->request.rollbackSnapshotId;
      const std::string message = wanted.empty()
                                      ? "there is nothing before what " + record->request.instanceId + " has"
                                      : "there is no snapshot " + wanted + " of " + record->request.instanceId;
      fail(state, ask.operation, "noSnapshot", message);
      return Prepare::Result(Prepare::Stopped{.operation = ask.operation, .why = "noSnapshot", .message = message});
    }
  }
  return work;
}

Prepare::Performed Cluster::perform_prepare(const PrepareWork& work, Effect& effect) {
  auto& means = effect.tool<ClusterMeans>();
  const ClusterId id(work.request.id);
  const auto stopped = [&](const Refusal& refusal) {
    return Prepare::Stopped{.operation = id, .why = refusal.why, .message = refusal.message};
  };
  if (std::string why = stop_of(effect, work.request.id)(); !why.empty()) return stopped({"cancelled", why});
  auto policy = executor::admitted(means, work.request);
  if (!policy) return stopped(policy.refusal());
  if (work.request.action == "undeploy") {
    auto prepared = prepare_removal(means, *policy, work.request);
    if (!prepared) return stopped(prepared.refusal());
    return Prepare::Prune{.operation = id, .facts = prepared->facts, .pieces = told(prepared->pieces)};
  }
  auto prepared = prepare_wanted(means, *policy, work, effect);
  if (!prepared) return stopped(prepared.refusal());
  if (work.dryRun)
    return Prepare::Validated{.operation = id, .facts = prepared->facts, .pieces = told(prepared->pieces)};
  return Prepare::Wave{.operation = id,
                       .wave = wave_after(prepared->pieces, -1).value_or(0),
                       .facts = prepared->facts,
                       .pieces = told(prepared->pieces)};
}

Prepare::Outcome Cluster::finish_prepare(const Prepare& ask, const Prepare::Outcome& outcome, State& state) {
  if (const auto* found = get_if<Prepare::Wave>(&outcome)) accept(ask.operation, *found, true, state);
  if (const auto* found = get_if<Prepare::Prune>(&outcome)) accept(ask.operation, *found, true, state);
  if (const auto* found = get_if<Prepare::Validated>(&outcome)) accept(ask.operation, *found, false, state);
  return finish_step<Prepare>(ask.operation, outcome, state);
}

// ----------------------------------------------------------------------------------------------------------- apply

Apply::Begun Cluster::begin_apply(const Apply& ask, State& state) {
  const ClusterRecord record = state.get(ask.operation).value_or(ClusterRecord{});
  ApplyWork work{step_of(ask.operation, record)};
  work.wave = ask.wave;
  for (Piece& each : pieces_of(state, ask.operation)) {
    if (is_wanted(each) && each.wave == ask.wave && each.state == "pending") work.pieces.push_back(std::move(each));
  }
  if (work.pieces.empty()) return Apply::Result(Apply::Ok{.operation = ask.operation, .wave = ask.wave});
  return work;
}

Apply::Performed Cluster::perform_apply(const ApplyWork& work, Effect& effect) {
  std::vector<Piece> pieces = work.pieces;
  auto refusal = run(work, effect, pieces, [](const auto& stage, const auto& kept, std::vector<Piece>& all) {
    return executor::applied(stage, kept.objects, all);
  });
  if (refusal) return stopped_at<Apply>(work, *refusal, pieces);
  return Apply::Ok{.operation = ClusterId(work.request.id), .wave = work.wave, .done = done_of(pieces)};
}

Apply::Outcome Cluster::finish_apply(const Apply& ask, const Apply::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Apply::Ok>(&outcome)) note(state, ask.operation, ok->done);
  return finish_step<Apply>(ask.operation, outcome, state);
}

// ----------------------------------------------------------------------------------------------------------- ready

Ready::Begun Cluster::begin_ready(const Ready& ask, State& state) {
  const ClusterRecord record = state.get(ask.operation).value_or(ClusterRecord{});
  ReadyWork work{step_of(ask.operation, record)};
  work.wave = ask.wave;
  const std::vector<Piece> pieces = pieces_of(state, ask.operation);
  work.next = wave_after(pieces, ask.wave);
  for (const Piece& each : pieces) {
    if (is_wanted(each) && each.wave == ask.wave && each.state == "applied") work.pieces.push_back(each);
  }
  if (work.pieces.empty() || work.timeout_ms == 0) {
    if (work.next) return Ready::Result(Ready::Next{.operation = ask.operation, .wave = *work.next});
    return Ready::Result(Ready::Last{.operation = ask.operation});
  }
  return work;
}

Ready::Performed Cluster::perform_ready(const ReadyWork& work, Effect& effect) {
  std::vector<Piece> pieces = work.pieces;
  auto refusal = run(work, effect, pieces, [&](const auto& stage, const auto&, std::vector<Piece>& all) {
    return executor::awaited(stage, all, work.timeout_ms);
  });
  if (refusal && refusal->why == "leaving") return lang::Again{.reason = refusal->message, .after_ms = kLeft_ms};
  if (refusal) return stopped_at<Ready>(work, *refusal, pieces);
  const ClusterId id(work.request.id);
  if (work.next) return Ready::Next{.operation = id, .wave = *work.next, .done = done_of(pieces)};
  return Ready::Last{.operation = id, .done = done_of(pieces)};
}

Ready::Outcome Cluster::finish_ready(const Ready& ask, const Ready::Outcome& outcome, State& state) {
  if (const auto* next = get_if<Ready::Next>(&outcome)) note(state, ask.operation, next->done);
  if (const auto* last = get_if<Ready::Last>(&outcome)) note(state, ask.operation, last->done);
  return finish_step<Ready>(ask.operation, outcome, state);
}

// ----------------------------------------------------------------------------------------------------------- prune

Prune::Begun Cluster::begin_prune(const Prune& ask, State& state) {
  const ClusterRecord record = state.get(ask.operation).value_or(ClusterRecord{});
  PruneWork work{step_of(ask.operation, record)};
  // What is removed was applied by earlier requests.
  const auto instance = state.get(record.instance);
  if (instance && instance->current) work.hidden.push_back(instance->current->text());
  for (const ClusterId& each : left_half_done(state, record.instance, ask.operation))
    work.hidden.push_back(each.text());
  for (Piece& each : pieces_of(state, ask.operation)) {
    if (goes(each) && each.state != "gone") work.pieces.push_back(std::move(each));
  }
  // What leads traffic to workloads goes before them.
  std::ranges::stable_sort(work.pieces, std::greater(), &Piece::wave);
  if (work.pieces.empty()) return Prune::Result(Prune::Ok{.operation = ask.operation});
  return work;
}

Prune::Performed Cluster::perform_prune(const PruneWork& work, Effect& effect) {
  std::vector<Piece> pieces = work.pieces;
  auto refusal = run(work, effect, pieces, [&](const auto& stage, const auto&, std::vector<Piece>& all) {
    return executor::removed(stage, all, work.timeout_ms);
  });
  if (refusal && refusal->why == "leaving") return lang::Again{.reason = refusal->message, .after_ms = kLeft_ms};
  if (refusal) return stopped_at<Prune>(work, *refusal, pieces);
  return Prune::Ok{.operation = ClusterId(work.request.id), .done = done_of(pieces)};
}

Prune::Outcome Cluster::finish_prune(const Prune& ask, const Prune::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Prune::Ok>(&outcome)) note(state, ask.operation, ok->done);
  return finish_step<Prune>(ask.operation, outcome, state);
}

// ---------------------------------------------------------------------------------------------------------- settle

Settle::Begun Cluster::begin_settle(const Settle& ask, State& state) {
  const ClusterRecord record = state.get(ask.operation).value_or(ClusterRecord{});
  SettleWork work{.request = request_of(ask.operation, record),
                  .locked = record.accepted && !record.noop,
                  .done = record.problem.why.empty(),
                  .manifestHash = record.manifestHash,
                  .snapshot = record.snapshot,
                  .pieces = pieces_of(state, ask.operation)};
  // A prepare that the cluster broke off, or whose end nobody saw, may have taken the lock.
  const std::string& why = record.problem.why;
  work.perhaps_locked = !record.accepted && (why == "kubernetesFailed" || why == "cancelled");
  if (record.action == ClusterAction::undeploy && work.done) {
    for (const auto& each : state.snapshots(record.instance)) work.snapshots.push_back(each.value.snapshot.text());
  } else if (record.action == ClusterAction::deploy && work.done && !record.request.dryRun) {
    // This one comes to those that are kept.
    const auto kept = state.snapshots(record.instance).values();
    for (size_t i = 0; i + kKeptSnapshots <= kept.size(); ++i) work.snapshots.push_back(kept[i].snapshot.text());
  } else if (record.action == ClusterAction::deploy && !record.accepted) {
    work.snapshots.push_back(ask.operation.text());
  }
  // What a deployment that stopped has applied is kept, for what must not be shown of it, until a request goes well.
  const std::vector<ClusterId> half_done = left_half_done(state, record.instance, ask.operation);
  const size_t kept = work.done && !record.request.dryRun ? 0 : kKeptSnapshots;
  for (size_t i = 0; i + kept < half_done.size(); ++i) work.snapshots.push_back(half_done[i].text());
  return work;
}

Settle::Performed Cluster::perform_settle(const SettleWork& work, Effect& effect) {
  auto& means = effect.tool<ClusterMeans>();
  means.forget_cancelled(work.request.id);
  if (auto gone = means.safe().remove(work.request.environment, request_name(work.request.id)); !gone) {
    return lang::Again{.reason = to_string(gone.error())};
  }
  if ((work.locked || work.perhaps_locked) && !means.is_noop()) {
    auto client = means.client();
    if (client) {
      auto refusal = executor::settled(**client, work.request, [&](kube::Inventory& inventory) {
        std::vector<kube::Tracked> objects;
        for (const Piece& each : work.pieces) {
          const bool there = each.action == "orphaned" || (goes(each) && each.state != "gone") ||
                             (is_wanted(each) && (!each.uid.empty() || each.state == "failed"));
          if (there) objects.push_back({each.ref(), each.uid});
        }
        if (!work.pieces.empty()) inventory.objects = std::move(objects);
        if (!work.done) return;
        inventory.manifest_hash = work.manifestHash;
        inventory.snapshot = work.snapshot;
        inventory.request = work.request.id;
      });
      // A lock that may not be there is not worth a long wait for the cluster: it ends by itself.
      if (refusal && refusal->why == "kubernetesFailed" && work.locked) return lang::Again{.reason = refusal->message};
    }
  }
  for (const std::string& each : work.snapshots) {
    if (auto gone = means.safe().remove(work.request.environment, snapshot_name(each)); !gone) {
      return lang::Again{.reason = to_string(gone.error())};
    }
  }
  return Settle::Ok{.operation = ClusterId(work.request.id)};
}

Settle::Outcome Cluster::finish_settle(const Settle& ask, const Settle::Outcome& outcome, State& state) {
  auto record = state.get(ask.operation);
  if (!record) return outcome;
  if (record->problem.why.empty() && ended_of(outcome) == Settle::Ended::engine) {
    fail(state, ask.operation, "kubernetesFailed",
         "everything was applied, but the inventory could not be written: its lock ends by itself within a minute");
    record = state.get(ask.operation);
  }
  const auto& [why, message] = record->problem;
  if (why.empty()) return Settle::Ok{.operation = ask.operation};
  return Settle::Refused{.operation = ask.operation, .why = why, .message = message + progress(state, ask.operation)};
}

}  // namespace sluice::deploy::cluster
