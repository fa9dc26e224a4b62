// The turn of a change: one that may not run yet leaves its request open in its row, and is answered by whoever ends.
#include <algorithm>

#include "deploy/concepts/deployment/deployment_rows.h"

namespace sluice::deploy::deployment {
namespace {

std::vector<DeploymentCFound> in_order(const State& state) {
  std::vector<DeploymentCFound> changes;
  for (const DeploymentCFound& each : state.all_c()) changes.push_back(each);
  std::ranges::sort(changes, {}, [](const DeploymentCFound& each) { return each.record.number; });
  return changes;
}

// Whether it must end before the other may begin.
bool is_before(const DeploymentCRecord& one, const DeploymentCRecord& other) {
  if (one.leader || one.target.environment != other.target.environment) return false;
  if (one.target.bundle.empty()) return one.number < other.number;
  return one.target == other.target && (one.running || one.number < other.number);
}

bool may_run(const std::vector<DeploymentCFound>& changes, const DeploymentCFound& one) {
  return std::ranges::none_of(
      changes, [&](const DeploymentCFound& each) { return each.id != one.id && is_before(each.record, one.record); });
}

// An up that is undone before it has ended waits for nobody: its own change is the one that runs.
bool has_turn_of_another(const State& state, const DeploymentCRecord& change) {
  if (!change.inTurnOf) return false;
  auto other = state.get(DeploymentCId(*change.inTurnOf));
  return other && other->running;
}

}  // namespace

std::optional<DeploymentCFound> change_of(const State& state, const lang::Request& ask) {
  auto found = state.find_by_ask(ask);
  if (found.empty()) return std::nullopt;
  return found.front();
}

DeploymentCId enqueue(State& state, DeploymentCRecord change) {
  const auto changes = in_order(state);
  change.number = changes.empty() ? 1 : changes.back().record.number + 1;
  return state.add(change);
}

void release(State& state) {
  auto changes = in_order(state);
  for (DeploymentCFound& each : changes) {
    if (!each.record.turn || each.record.leader || each.record.running || !may_run(changes, each)) continue;
    each.record.due = each.record.running = true;
    state.put(each.id, each.record);
  }
}

void dequeue(State& state, const DeploymentCFound& change, const std::string& outcome) {
  for (const DeploymentCFound& each : in_order(state)) {
    if (each.record.leader != change.record.ask) continue;
    state.edit(each.id, [&](DeploymentCRecord& record) {
      record.outcome = outcome;
      record.due = true;
    });
  }
  state.split(change.id).clear();
  state.split_before(change.id).clear();
  state.erase(change.id);
  release(state);
}

AwaitTurn::Begun Deployment::begin_await_turn(const AwaitTurn& ask, State& state) {
  auto record = state.get(ask.change);
  if (!record || !record->outcome.empty()) return AwaitTurn::Joined{.change = ask.change};
  const bool has_turn = record->running || has_turn_of_another(state, *record);
  if (!record->leader && (has_turn || may_run(in_order(state), {ask.change, *record}))) {
    record->running = true;
    state.put(ask.change, *record);
    return AwaitTurn::Ok{.change = ask.change};
  }
  record->turn = state.request();
  state.put(ask.change, *record);
  return lang::Opened{};
}

AwaitTurn::Outcome Deployment::finish_await_turn(const AwaitTurn& ask, const AwaitTurn::Outcome& outcome,
                                                 State& state) {
  auto record = state.get(ask.change);
  if (!record) return outcome;
  record->turn.reset();
  record->due = false;
  state.put(ask.change, *record);
  if (ended_of(outcome) == AwaitTurn::Ended::engine || !record->leader) return outcome;
  return AwaitTurn::Joined{.change = ask.change};
}

}  // namespace sluice::deploy::deployment
