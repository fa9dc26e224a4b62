// Deployment/down and rollBack, and what deployments that are gone have stored. Data is kept under the name that the
// first deployment of an environment, bundle and customer gave it, and the next one of the three takes it up again.
#include "deploy/concepts/deployment/deployment_rows.h"

namespace sluice::deploy::deployment {

DeploymentTarget target_of(const DeploymentRecord& record) {
  return {.environment = record.environment, .bundle = record.bundle, .customer = record.customer};
}

std::string storage_of(const DeploymentId& id, const DeploymentRecord& record) {
  if (record.storage) return *record.storage;
  std::string name = "d-" + id.text();
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

std::string take_data(State& state, const DeploymentId& id, const DeploymentRecord& record) {
  for (const auto& each : state.kept_data()) {
    const DeploymentKeptDataItem kept = each.value;
    if (kept.deleting || kept.environment != record.environment || kept.bundle != record.bundle ||
        kept.customer != record.customer) {
      continue;
    }
    state.kept_data().erase(each.number);
    return kept.storage;
  }
  return storage_of(id, record);
}

void leave_data(State& state, const DeploymentId& id, const DeploymentRecord& record) {
  state.kept_data().push({.environment = record.environment,
                          .bundle = record.bundle,
                          .customer = record.customer,
                          .storage = storage_of(id, record),
                          .since = state.now(),
                          .deleting = false});
}

// ----------------------------------------------------------------------------------------------------------- down

Down::Begun Deployment::begin_down(const Down& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record) return Down::NotFound{.deployment = ask.deployment};
  enqueue(state, {.kind = DeploymentKind::down,
                  .target = target_of(*record),
                  .ask = state.request(),
                  .reached = {.deployment = ask.deployment.text()}});
  return lang::Opened{};
}

Down::Outcome Deployment::finish_down(const Down& ask, const Down::Outcome& outcome, State& state) {
  auto found = change_of(state, state.request());
  if (!found) return outcome;
  const DeploymentTarget target = found->record.target;
  dequeue(state, *found, "");
  if (ended_of(outcome) == Down::Ended::engine) return Down::Refused{.message = reason_of(outcome)};
  if (ended_of(outcome) != Down::Ended::ok) return outcome;
  return Down::Ok{.deployment = ask.deployment,
                  .environment = target.environment,
                  .bundle = target.bundle,
                  .customer = target.customer};
}

// ------------------------------------------------------------------------------------------------------- rollBack

RollBack::Begun Deployment::begin_roll_back(const RollBack& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record) return RollBack::NotFound{.deployment = ask.deployment};
  enqueue(state, {.kind = DeploymentKind::rollBack,
                  .target = target_of(*record),
                  .ask = state.request(),
                  .wish = {.by = ask.caller.value_or("")},
                  .reached = {.deployment = ask.deployment.text()}});
  return lang::Opened{};
}

RollBack::Outcome Deployment::finish_roll_back(const RollBack& ask, const RollBack::Outcome& outcome, State& state) {
  auto found = change_of(state, state.request());
  if (!found) return outcome;
  RollBack::Ok ok{.deployment = ask.deployment};
  if (const auto* reached = get_if<RollBack::Ok>(&outcome)) ok.generation = reached->generation;
  for (const DeploymentSplitItem& each : state.split(found->id).values()) {
    ok.entries.push_back({.revision = each.revision, .weightBps = each.weightBps});
  }
  dequeue(state, *found, "");
  if (ended_of(outcome) == RollBack::Ended::ok) return ok;
  if (ended_of(outcome) != RollBack::Ended::engine) return outcome;
  return RollBack::Refused{.message = reason_of(outcome)};
}

// ----------------------------------------------------------------------------------------------------------- data

DeleteData::Begun Deployment::begin_delete_data(const DeleteData& ask, State& state) {
  for (const auto& each : state.kept_data()) {
    if (each.value.storage != ask.storage || each.value.deleting) continue;
    auto kept = each.value;
    kept.deleting = true;  // the next deployment of that name begins without it
    state.kept_data().erase(each.number);
    state.kept_data().push(kept);
    return lang::Opened{};
  }
  return DeleteData::NotFound{.storage = ask.storage, .message = "no deployment that is gone has left " + ask.storage};
}

DeleteData::Outcome Deployment::finish_delete_data(const DeleteData& ask, const DeleteData::Outcome& outcome,
                                                   State& state) {
  for (const auto& each : state.kept_data()) {
    if (each.value.storage != ask.storage) continue;
    auto kept = each.value;
    state.kept_data().erase(each.number);
    kept.deleting = false;
    if (ended_of(outcome) != DeleteData::Ended::ok) state.kept_data().push(kept);
    break;
  }
  if (ended_of(outcome) != DeleteData::Ended::engine) return outcome;
  return DeleteData::Stuck{.storage = ask.storage, .message = reason_of(outcome)};
}

ListData::Result Deployment::list_data(const ListData&, const State& state) {
  ListData::Ok ok;
  for (const auto& each : state.kept_data()) {
    ok.data.push_back({.environment = each.value.environment,
                       .bundle = each.value.bundle,
                       .customer = each.value.customer,
                       .storage = each.value.storage,
                       .since = each.value.since});
  }
  return ok;
}

}  // namespace sluice::deploy::deployment
