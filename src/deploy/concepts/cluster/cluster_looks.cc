// What only looks: render, dryRun, diff and status. Nothing of it is kept.
#include <map>

#include "deploy/concepts/cluster/cluster_rows.h"
#include "deploy/executor/cluster_means.h"
#include "deploy/executor/drift.h"
#include "deploy/executor/inventory_lock.h"
#include "deploy/executor/rendered.h"
#include "deploy/executor/snapshot.h"
#include "deploy/executor/survey.h"
#include "kube/difference.h"

namespace sluice::deploy::cluster {
namespace {

using executor::ClusterMeans;
using executor::Refusal;

template <class Ask>
RenderWork work_of(const Ask& ask, std::string action) {
  return {.request = {.id = ask.requestId.value_or("none"),
                      .action = std::move(action),
                      .environment = ask.environment,
                      .host = ask.hostId,
                      .instance = ask.instanceId,
                      .cluster = ask.clusterId,
                      .name_space = ask.namespace_,
                      .caller = ask.caller.value_or(""),
                      .repository = ask.template_.repoUrl,
                      .ref = ask.template_.ref.value_or("main"),
                      .path = ask.template_.path.value_or("k8s"),
                      .values_hash = ask.valuesHash.value_or(""),
                      .runtime_values_hash = ask.runtimeValuesHash.value_or("")},
          .values = ask.values,
          .runtimeValues = ask.runtimeValues,
          .files = ask.files};
}

// What looks at an instance of another environment is refused, as its roles are others.
template <class Action, class Ask, class Work>
typename Action::Begun begun(const Ask& ask, const State& state, Work work) {
  std::string denied =
      denial_of_environment(state, instance_of(ask.hostId, ask.namespace_, ask.instanceId), ask.environment);
  if (!denied.empty()) return typename Action::Result(typename Action::PolicyDenied{.message = std::move(denied)});
  if constexpr (requires { work.snapshot; }) {
    auto instance = state.get(instance_of(ask.hostId, ask.namespace_, ask.instanceId));
    if (instance && instance->current) work.snapshot = instance->current->text();
  }
  return work;
}

// What a request comes to without the cluster.
struct Looked {
  kube::Policy policy;
  executor::Rendered rendered;
};

executor::Tried<Looked> look(const RenderWork& work, Effect& effect) {
  auto& means = effect.tool<ClusterMeans>();
  executor::Sent sent;
  try {
    sent = sent_with(work, effect);
  } catch (const std::exception&) {
    return Refusal{"renderFailed", "Sluice ended before the values were used; ask again"};
  }
  auto policy = executor::admitted(means, work.request);
  if (!policy) return policy.refusal();
  // Who only looks reads no secret: those that the last deployment was given stand for them.
  auto wanted = executor::secrets_wanted(sent, work.request.environment);
  if (wanted && !wanted->empty() && !work.snapshot.empty()) {
    auto kept = executor::read_snapshot(means, work.request.environment, snapshot_name(work.snapshot));
    if (kept) sent.secrets = std::move(kept->secrets);
  }
  auto rendered = executor::rendered(means, *policy, work.request, sent);
  if (!rendered) return rendered.refusal();
  return Looked{.policy = *std::move(policy), .rendered = *std::move(rendered)};
}

template <class Ok>
Ok ok_of(const RenderWork& work, const Looked& looked, bool noop) {
  const executor::Rendered& made = looked.rendered;
  Ok ok;
  ok.requestId = work.request.id;
  ok.deployerId = looked.policy.deployerId;
  ok.clusterId = looked.policy.clusterId;
  ok.namespace_ = work.request.name_space;
  ok.manifestHash = made.manifest_hash;
  ok.valuesHash = made.values_hash;
  if (!made.runtime_values_hash.empty()) ok.runtimeValuesHash = made.runtime_values_hash;
  if (!made.commit.empty()) ok.commit = made.commit;
  ok.noop = noop;
  return ok;
}

template <class Ok>
void list(Ok& ok, const executor::Piece& piece) {
  ok.resources.push_back({.apiVersion = piece.api_version,
                          .kind = piece.kind,
                          .namespace_ = piece.name_space,
                          .name = piece.name,
                          .action = piece.action,
                          .state = piece.state,
                          .message = piece.message});
}

// Every object as it would be in a cluster that has none of them.
template <class Ok>
std::optional<Refusal> list_rendered(Ok& ok, const executor::Rendered& made, const std::string& action) {
  auto pieces = executor::pieces_of(made.objects);
  if (!pieces) return pieces.refusal();
  for (executor::Piece& each : *pieces) {
    each.action = action;
    list(ok, each);
  }
  return std::nullopt;
}

// What was applied last, by its reference. What must not be shown of it is still in the cluster: it goes into the
// taint.
std::map<kube::ObjectRef, json::value> last_applied(ClusterMeans& means, const std::string& environment,
                                                    const std::string& snapshot, rendering::Taint& taint) {
  std::map<kube::ObjectRef, json::value> all;
  if (snapshot.empty()) return all;
  auto kept = executor::read_snapshot(means, environment, snapshot_name(snapshot));
  if (!kept) return all;
  for (const std::string& each : kept->taint.texts()) taint.add(each);
  for (json::value& each : kept->objects) {
    const kube::ObjectRef ref = kube::ref_of(each);
    all[ref] = std::move(each);
  }
  return all;
}

json::value shown(const rendering::Taint& taint, const json::value& object) {
  return object.is_null() ? object : taint.redacted(kube::comparable(object));
}

std::optional<Refusal> compare(ClusterMeans& means, const DiffWork& work, Looked& looked, Diff::Ok& ok) {
  auto client = means.client();
  if (!client) return executor::refusal_of("kubernetesFailed", client.error());
  auto inventory = executor::inventory_of(**client, looked.policy, work.request);
  if (!inventory) return inventory.refusal();
  // A conflict is shown as drift: it does not end a look.
  auto seen = executor::surveyed(**client, work.request, looked.rendered, {.force = true, .new_ones = true});
  if (!seen) return seen.refusal();
  rendering::Taint& taint = looked.rendered.taint;
  const auto applied = last_applied(means, work.request.environment, inventory->snapshot, taint);
  for (const executor::Seen& each : *seen) {
    for (const json::value* one : {&each.live, &each.after}) {
      if (!one->is_null()) taint.add_secret_object(*one);
    }
  }
  for (const auto& [ref, object] : applied) taint.add_secret_object(object);
  // What a request that stopped has applied may be in the cluster, too.
  for (const std::string& each : work.halfDone) hide(means, work.request.environment, each, taint);
  std::vector<executor::Piece> wanted;
  for (const executor::Seen& each : *seen) {
    wanted.push_back(each.piece);
    list(ok, each.piece);
    const std::string& action = each.piece.action;
    (action == "added" ? ok.added : action == "modified" ? ok.modified : ok.unchanged)++;
    auto last = applied.find(each.piece.ref());
    if (last != applied.end()) {
      for (const executor::DriftedField& field : executor::drift_of(last->second, each.live, rendering::kManager)) {
        ok.drift.push_back({.apiVersion = each.piece.api_version,
                            .kind = each.piece.kind,
                            .namespace_ = each.piece.name_space,
                            .name = each.piece.name,
                            .field = field.field,
                            .manager = field.manager});
      }
    }
    if (action == "unchanged") continue;
    const json::value& after = each.after.is_null() ? looked.rendered.objects[&each - seen->data()] : each.after;
    ok.unifiedDiff +=
        kube::unified_difference(shown(taint, each.live), shown(taint, after), to_string(each.piece.ref()));
  }
  const std::vector<executor::Piece> goes = executor::superfluous(*inventory, wanted, looked.policy);
  for (const executor::Piece& each : goes) {
    list(ok, each);
    if (each.action != "pruned") continue;
    ++ok.pruned;
    auto live = (*client)->get(each.ref());
    if (!live || live->failure) continue;
    taint.add_secret_object(live->body);
    ok.unifiedDiff += kube::unified_difference(shown(taint, live->body), {}, to_string(each.ref()));
  }
  if (std::string why = executor::override_for(looked.policy, goes, inventory->objects.size()); !why.empty()) {
    ok.overrideNeeded = why;
  }
  return std::nullopt;
}

}  // namespace

executor::Sent sent_with(const RenderWork& work, Effect& effect) {
  const auto text = [&](const std::optional<lang::Sealed>& sealed) { return sealed ? effect.open(*sealed) : ""; };
  auto sent = executor::read_sent(text(work.values), text(work.runtimeValues), text(work.files));
  if (!sent) throw std::invalid_argument(to_string(sent.error()));
  return *std::move(sent);
}

Render::Begun Cluster::begin_render(const Render& ask, State& state) {
  return begun<Render>(ask, state, work_of(ask, "render"));
}

Render::Performed Cluster::perform_render(const RenderWork& work, Effect& effect) {
  auto looked = look(work, effect);
  if (!looked) return variant_of<Render, Render::Performed>(looked.refusal());
  auto ok = ok_of<Render::Ok>(work, *looked, effect.tool<ClusterMeans>().is_noop());
  if (auto refusal = list_rendered(ok, looked->rendered, "modified")) {
    return variant_of<Render, Render::Performed>(*refusal);
  }
  return ok;
}

Render::Outcome Cluster::finish_render(const Render&, const Render::Outcome& outcome, State&) { return outcome; }

DryRun::Begun Cluster::begin_dry_run(const DryRun& ask, State& state) {
  DryRunWork work{work_of(ask, "dryRun")};
  work.request.force = ask.force.value_or(false);
  return begun<DryRun>(ask, state, std::move(work));
}

DryRun::Performed Cluster::perform_dry_run(const DryRunWork& work, Effect& effect) {
  auto looked = look(work, effect);
  if (!looked) return variant_of<DryRun, DryRun::Performed>(looked.refusal());
  auto& means = effect.tool<ClusterMeans>();
  auto ok = ok_of<DryRun::Ok>(work, *looked, means.is_noop());
  if (ok.noop) {
    list_rendered(ok, looked->rendered, "unchanged");
    return ok;
  }
  auto client = means.client();
  if (!client) return variant_of<DryRun, DryRun::Performed>(executor::refusal_of("kubernetesFailed", client.error()));
  if (work.request.force && !looked->policy.allowForce) {
    return DryRun::PolicyDenied{.message = "taking over fields of others is not allowed; nothing was changed"};
  }
  auto seen =
      executor::surveyed(**client, work.request, looked->rendered, {.force = work.request.force, .new_ones = true});
  if (!seen) return variant_of<DryRun, DryRun::Performed>(seen.refusal());
  if (auto conflict = executor::conflict_among(*seen)) return variant_of<DryRun, DryRun::Performed>(*conflict);
  for (const executor::Seen& each : *seen) list(ok, each.piece);
  return ok;
}

DryRun::Outcome Cluster::finish_dry_run(const DryRun&, const DryRun::Outcome& outcome, State&) { return outcome; }

Diff::Begun Cluster::begin_diff(const Diff& ask, State& state) {
  DiffWork work{work_of(ask, "diff")};
  for (const ClusterId& each : left_half_done(state, instance_of(ask.hostId, ask.namespace_, ask.instanceId))) {
    work.halfDone.push_back(each.text());
  }
  return begun<Diff>(ask, state, std::move(work));
}

Diff::Performed Cluster::perform_diff(const DiffWork& work, Effect& effect) {
  auto looked = look(work, effect);
  if (!looked) return variant_of<Diff, Diff::Performed>(looked.refusal());
  auto& means = effect.tool<ClusterMeans>();
  auto ok = ok_of<Diff::Ok>(work, *looked, means.is_noop());
  auto refusal = ok.noop ? list_rendered(ok, looked->rendered, "added") : compare(means, work, *looked, ok);
  if (refusal) return variant_of<Diff, Diff::Performed>(*refusal);
  return ok;
}

Diff::Outcome Cluster::finish_diff(const Diff&, const Diff::Outcome& outcome, State&) { return outcome; }

Status::Begun Cluster::begin_status(const Status& ask, State& state) {
  const StatusWork work{.request = {.id = ask.requestId.value_or("none"),
                                    .action = "status",
                                    .environment = ask.environment,
                                    .host = ask.hostId,
                                    .instance = ask.instanceId,
                                    .cluster = ask.clusterId,
                                    .name_space = ask.namespace_,
                                    .caller = ask.caller.value_or("")}};
  return begun<Status>(ask, state, work);
}

Status::Performed Cluster::perform_status(const StatusWork& work, Effect& effect) {
  const auto refused = [](const Refusal& refusal) { return variant_of<Status, Status::Performed>(refusal); };
  auto& means = effect.tool<ClusterMeans>();
  auto policy = executor::admitted(means, work.request);
  if (!policy) return refused(policy.refusal());
  Status::Ok ok{.requestId = work.request.id,
                .deployerId = policy->deployerId,
                .clusterId = policy->clusterId,
                .namespace_ = work.request.name_space,
                .ready = true,
                .noop = means.is_noop()};
  if (ok.noop) return ok;
  auto client = means.client();
  if (!client) return refused(executor::refusal_of("kubernetesFailed", client.error()));
  auto inventory = executor::inventory_of(**client, *policy, work.request);
  if (!inventory) return refused(inventory.refusal());
  if (inventory->objects.empty() && inventory->lock.request.empty()) {
    return Status::NotFound{.message = "there is no instance " + work.request.instance + " of the host " +
                                       work.request.host + " in " + work.request.name_space};
  }
  std::vector<executor::Piece> pieces;
  for (const kube::Tracked& each : inventory->objects) pieces.push_back(executor::piece_of(each.ref));
  rendering::Taint taint;
  if (auto kept = executor::read_snapshot(means, work.request.environment, snapshot_name(inventory->snapshot))) {
    taint = kept->taint;
  }
  const executor::Stage stage{**client, means.clock(), work.request, taint, [] { return std::string(); }};
  if (auto refusal = executor::looked_at(stage, pieces)) return refused(*refusal);
  ok.manifestHash = inventory->manifest_hash;
  ok.snapshotId = inventory->snapshot;
  if (!inventory->lock.request.empty() && inventory->lock.until_ms > means.clock().wall_ms()) {
    ok.deploying = inventory->lock.request;
  }
  for (executor::Piece& each : pieces) {
    each.action = "unchanged";
    if (each.state != "ready") ok.ready = false;
    list(ok, each);
  }
  return ok;
}

Status::Outcome Cluster::finish_status(const Status&, const Status::Outcome& outcome, State&) { return outcome; }

}  // namespace sluice::deploy::cluster
