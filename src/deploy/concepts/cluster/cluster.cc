// Cluster's requests: how they open, and what is left of them. The steps between are in cluster_steps.cc, what only
// looks is in cluster_looks.cc.
#include "deploy/concepts/cluster/cluster_rows.h"
#include "deploy/executor/cluster_means.h"
#include "deploy/executor/snapshot.h"

namespace sluice::deploy::cluster {
namespace {

struct Asked {
  ClusterAction action;
  std::string environment;
  std::optional<std::string> id;
  ClusterRequest request;
};

// What every request says.
template <class Ask>
Asked asked_of(const Ask& ask, ClusterAction action) {
  return {.action = action,
          .environment = ask.environment,
          .id = ask.requestId,
          .request = {.hostId = ask.hostId,
                      .instanceId = ask.instanceId,
                      .clusterId = ask.clusterId,
                      .namespace_ = ask.namespace_,
                      .caller = ask.caller.value_or(""),
                      .waitForRollout = ask.waitForRollout.value_or(true),
                      .timeoutSeconds = ask.timeoutSeconds.value_or(300),
                      .pruneOverride = ask.pruneOverride.value_or(false)}};
}

// Notes the request. A refusal: nothing was noted.
template <class Action>
typename Action::Begun open(const Asked& asked, State& state) {
  const ClusterRequest& request = asked.request;
  const auto invalid = [](const std::string& message) {
    return typename Action::Begun(typename Action::Result(typename Action::Invalid{.message = message}));
  };
  if (request.timeoutSeconds < 1 || request.timeoutSeconds > kMostSeconds) {
    return invalid("timeoutSeconds is from 1 to " + std::to_string(kMostSeconds));
  }
  if (request.hostId.empty() || request.instanceId.empty() || request.namespace_.empty()) {
    return invalid("hostId, instanceId and namespace say which instance is meant, and none may be empty");
  }
  if (asked.id && asked.id->empty()) return invalid("the requestId is empty");
  if (asked.id && state.has(ClusterId(*asked.id))) return invalid("the requestId " + *asked.id + " was used before");
  const ClusterIId instance = instance_of(request.hostId, request.namespace_, request.instanceId);
  if (std::string denied = denial_of_environment(state, instance, asked.environment); !denied.empty()) {
    return typename Action::Begun(typename Action::Result(typename Action::PolicyDenied{.message = denied}));
  }
  auto there = state.get(instance);
  if (there) {
    auto before = state.get(there->newest);
    if (before && !before->endedAt) {
      return typename Action::Begun(typename Action::Result(
          typename Action::Busy{.message = "the request " + there->newest.text() + " is at work on " +
                                           request.instanceId + "; nothing was changed"}));
    }
  }
  const ClusterRecord record{.action = asked.action,
                             .environment = asked.environment,
                             .instance = instance,
                             .request = request,
                             .ask = state.request(),
                             .status = ClusterStatus::accepted,
                             .begunAt = state.now()};
  ClusterId id;
  if (asked.id) {
    id = ClusterId(*asked.id);
    state.put(id, record);
  } else {
    id = state.add(record);
  }
  ClusterIRecord kept = there.value_or(ClusterIRecord{.home = asked.environment,
                                                      .hostId = request.hostId,
                                                      .instanceId = request.instanceId,
                                                      .namespace_ = request.namespace_});
  kept.newest = id;
  state.put(instance, kept);
  state.past(instance).push(id);
  return lang::Opened{};
}

void forget(State& state, const ClusterId& id) {
  state.resources(id).clear();
  state.events(id).clear();
  state.erase(id);
}

// The oldest operations go, but never one that the instance can go back to.
void forget_oldest(State& state, const ClusterIId& instance) {
  size_t left = state.past(instance).size();
  for (const auto& each : state.past(instance)) {
    if (left <= kKeptOperations) return;
    --left;
    forget(state, each.value);
    state.past(instance).erase(each.number);
  }
}

// The snapshot becomes the newest that can be gone back to; the oldest ones are no longer listed.
void note_snapshot(State& state, const ClusterRecord& record) {
  auto snapshots = state.snapshots(record.instance);
  for (const auto& each : snapshots) {
    if (each.value.snapshot.text() == record.snapshot) return;
  }
  snapshots.push({.snapshot = ClusterId(record.snapshot), .manifestHash = record.manifestHash, .keptAt = state.now()});
  size_t left = snapshots.size();
  for (const auto& each : state.snapshots(record.instance)) {
    if (left <= kKeptSnapshots) break;
    --left;
    state.snapshots(record.instance).erase(each.number);
  }
}

// What is left of a request that has ended: its row says how, and its events end.
template <class Action>
typename Action::Outcome close(const typename Action::Outcome& outcome, ClusterStatus done, State& state) {
  auto found = operation_of(state, state.request());
  if (!found) return outcome;
  ClusterRecord record = found->record;
  record.ask.reset();
  record.endedAt = state.now();
  typename Action::Outcome made = outcome;
  if (const auto* ok = get_if<typename Action::Ok>(&outcome)) {
    record.status = record.request.dryRun ? ClusterStatus::validated : done;
    typename Action::Ok told = *ok;
    told.requestId = found->id;
    told.status = boost::describe::enum_to_string(record.status, "");
    if constexpr (requires { told.snapshotId; }) {
      if (!record.snapshot.empty()) told.snapshotId = record.snapshot;
    }
    made = told;
    if (!record.request.dryRun) {
      if (done == ClusterStatus::deleted) {
        state.snapshots(record.instance).clear();
        state.edit(record.instance, [](ClusterIRecord& each) { each.current.reset(); });
      } else {
        note_snapshot(state, record);
        state.edit(record.instance, [&](ClusterIRecord& each) { each.current = ClusterId(record.snapshot); });
      }
    }
    tell(state, found->id, told.status,
         "processed " + std::to_string(state.resources(found->id).size()) + " resources");
  } else {
    if (const auto* end = get_if<lang::EngineEnd>(&outcome)) {
      record.problem = {.why = end->outcome == lang::EngineOutcome::cancelled ? "cancelled" : "kubernetesFailed",
                        .message = end->message};
      if (record.problem.why == "cancelled") {
        made = typename Action::Cancelled{.message = end->message};
      } else {
        made = typename Action::KubernetesFailed{.message = end->message};
      }
    }
    record.status = record.problem.why == "requiresOverride" ? ClusterStatus::requiresOverride
                    : record.problem.why == "cancelled"      ? ClusterStatus::cancelled
                                                             : ClusterStatus::failed;
    tell(state, found->id, boost::describe::enum_to_string(record.status, ""), record.problem.message);
  }
  state.put(found->id, record);
  forget_oldest(state, record.instance);
  return made;
}

}  // namespace

std::optional<ClusterFound> operation_of(const State& state, const lang::Request& ask) {
  auto found = state.find_by_ask(ask);
  if (found.empty()) return std::nullopt;
  return found.front();
}

ClusterIId instance_of(const std::string& host, const std::string& name_space, const std::string& instance) {
  return ClusterIId(host + "/" + name_space + "/" + instance);
}

std::string denial_of_environment(const State& state, const ClusterIId& instance, const std::string& environment) {
  auto there = state.get(instance);
  if (!there || there->home == environment) return "";
  return "the instance " + there->instanceId + " is not of " + environment + "; nothing was changed";
}

std::vector<ClusterId> left_half_done(const State& state, const ClusterIId& instance, const ClusterId& end) {
  std::vector<ClusterId> all;
  for (const auto& each : state.past(instance)) {
    if (each.value == end) break;
    auto record = state.get(each.value);
    if (!record || !record->accepted) continue;
    if (record->problem.why.empty()) {
      all.clear();
    } else {
      all.push_back(each.value);
    }
  }
  return all;
}

executor::Request request_of(const ClusterId& id, const ClusterRecord& record) {
  const ClusterRequest& asked = record.request;
  return {.id = id.text(),
          .action = std::string(boost::describe::enum_to_string(record.action, "")),
          .environment = record.environment,
          .host = asked.hostId,
          .instance = asked.instanceId,
          .cluster = asked.clusterId,
          .name_space = asked.namespace_,
          .caller = asked.caller,
          .repository = asked.repoUrl,
          .ref = asked.ref,
          .path = asked.path,
          .values_hash = asked.valuesHash,
          .runtime_values_hash = asked.runtimeValuesHash,
          .force = asked.force,
          .prune_override = asked.pruneOverride};
}

std::vector<executor::Piece> pieces_of(const State& state, const ClusterId& id) {
  std::vector<executor::Piece> pieces;
  for (const auto& each : state.resources(id)) {
    const ClusterResource& row = each.value;
    pieces.push_back({.number = each.number,
                      .api_version = row.apiVersion,
                      .kind = row.kind,
                      .name_space = row.namespace_,
                      .name = row.name,
                      .wave = row.wave,
                      .action = row.action,
                      .state = row.state,
                      .message = row.message,
                      .uid = row.uid});
  }
  return pieces;
}

void tell(State& state, const ClusterId& id, const std::string& status, const std::string& message,
          const executor::Piece& about) {
  state.events(id).push({.at = state.now(),
                         .status = status,
                         .message = message,
                         .apiVersion = about.api_version,
                         .kind = about.kind,
                         .namespace_ = about.name_space,
                         .name = about.name});
}

void hide(executor::ClusterMeans& means, const std::string& environment, const std::string& request,
          rendering::Taint& taint) {
  auto kept = executor::read_snapshot(means, environment, snapshot_name(request));
  if (!kept) return;
  for (const std::string& each : kept->taint.texts()) taint.add(each);
}

std::string request_name(const std::string& id) { return "cluster/request/" + id; }
std::string snapshot_name(const std::string& id) { return "cluster/snapshot/" + id; }

Deploy::Begun Cluster::begin_deploy(const Deploy& ask, State& state) {
  Asked asked = asked_of(ask, ClusterAction::deploy);
  asked.request.repoUrl = ask.template_.repoUrl;
  asked.request.ref = ask.template_.ref.value_or("main");
  asked.request.path = ask.template_.path.value_or("k8s");
  asked.request.valuesHash = ask.valuesHash.value_or("");
  asked.request.runtimeValuesHash = ask.runtimeValuesHash.value_or("");
  asked.request.valuesSnapshotId = ask.valuesSnapshotId.value_or("");
  asked.request.runtimeValuesSnapshotId = ask.runtimeValuesSnapshotId.value_or("");
  asked.request.dryRun = ask.dryRun.value_or(false);
  asked.request.force = ask.force.value_or(false);
  return open<Deploy>(asked, state);
}

Deploy::Outcome Cluster::finish_deploy(const Deploy&, const Deploy::Outcome& outcome, State& state) {
  return close<Deploy>(outcome, ClusterStatus::deployed, state);
}

Undeploy::Begun Cluster::begin_undeploy(const Undeploy& ask, State& state) {
  return open<Undeploy>(asked_of(ask, ClusterAction::undeploy), state);
}

Undeploy::Outcome Cluster::finish_undeploy(const Undeploy&, const Undeploy::Outcome& outcome, State& state) {
  return close<Undeploy>(outcome, ClusterStatus::deleted, state);
}

Rollback::Begun Cluster::begin_rollback(const Rollback& ask, State& state) {
  Asked asked = asked_of(ask, ClusterAction::rollback);
  asked.request.rollbackSnapshotId = ask.rollbackSnapshotId.value_or("");
  asked.request.force = ask.force.value_or(false);
  return open<Rollback>(asked, state);
}

Rollback::Outcome Cluster::finish_rollback(const Rollback&, const Rollback::Outcome& outcome, State& state) {
  return close<Rollback>(outcome, ClusterStatus::rolledBack, state);
}

Cancel::Begun Cluster::begin_cancel(const Cancel& ask, State& state) {
  auto record = state.get(ask.operation);
  const std::string name = "the request " + ask.operation.text();
  if (!record) {
    return Cancel::Result(Cancel::NotFound{.operation = ask.operation, .message = name + " is not known"});
  }
  if (record->endedAt) return Cancel::Result(Cancel::Over{.operation = ask.operation, .message = name + " has ended"});
  return CancelWork{.id = ask.operation.text(), .host = record->request.hostId, .caller = ask.caller.value_or("")};
}

// A step that is under way does not see rows that are written meanwhile.
Cancel::Performed Cluster::perform_cancel(const CancelWork& work, Effect& effect) {
  auto& means = effect.tool<executor::ClusterMeans>();
  auto policy = means.policy();
  if (!policy) return Cancel::PolicyDenied{.message = to_string(policy.error())};
  if (std::string denied = policy->denial_of_host(work.caller, work.host); !denied.empty()) {
    return Cancel::PolicyDenied{.message = denied + "; nothing was changed"};
  }
  means.cancel(work.id);
  return Cancel::Ok{.operation = ClusterId(work.id)};
}

Cancel::Outcome Cluster::finish_cancel(const Cancel& ask, const Cancel::Outcome& outcome, State& state) {
  if (ended_of(outcome) == Cancel::Ended::ok && state.has(ask.operation)) {
    state.edit(ask.operation, [](ClusterRecord& record) { record.cancelled = true; });
  }
  return outcome;
}

}  // namespace sluice::deploy::cluster
