// What runs next. A node that ends counts down what waits for it, at the cost of its edges; those that nothing holds
// back any more run at once, as long as no more than the plan allows run together, and wait in the backlog otherwise.
// Undoing is the same with the edges turned round, over the nodes that were done.
#include <algorithm>
#include <stdexcept>

#include "deploy/concepts/deploy_plan/deploy_plan_rows.h"
#include "deploy/invariant.h"

namespace sluice::deploy::deploy_plan {
namespace {

using Phase = DeployPlanCurrentPhase;

std::optional<int64_t> take_from_backlog(State& state, const DeployPlanId& plan) {
  for (const auto& each : state.backlog(plan)) {
    const int64_t place = each.value.next;
    state.backlog(plan).erase(each.number);
    return place;
  }
  return std::nullopt;
}

// The next nodes to run, as many as there is room for: first those that became free, then those that always were.
std::vector<DeployPlanReadyItem> take_ready(State& state, const DeployPlanId& id, DeployPlanRecord& record,
                                            Blocks& blocks) {
  std::vector<DeployPlanReadyItem> ready;
  while (record.running < record.parallel) {
    auto place = take_from_backlog(state, id);
    if (!place && record.cursor < record.roots) place = record.cursor++;
    if (!place) break;
    const DeployPlanNode& node = blocks.at(*place);
    ready.push_back({.place = *place, .kind = node.kind, .target = node.target});
    record.running++;
  }
  return ready;
}

bool was_done(const DeployPlanNRecord& node) {
  return node.status == DeployPlanStatus::done || node.status == DeployPlanStatus::unknown ||
         node.status == DeployPlanStatus::stuck;
}

std::vector<DeployPlanUndoableItem> take_undoable(State& state, const DeployPlanId& id, DeployPlanRecord& record) {
  std::vector<DeployPlanUndoableItem> undoable;
  while (record.running < record.parallel) {
    auto place = take_from_backlog(state, id);
    if (!place) break;
    const DeployPlanNId node = node_id(id, *place);
    auto kept = state.get(node);
    if (!kept || !kept->run) continue;
    kept->status = DeployPlanStatus::undoing;
    kept->beganAt = state.now();
    kept->overAt.reset();
    state.put(node, *kept);
    undoable.push_back({.place = *place, .kind = kept->kind, .target = kept->target, .run = *kept->run});
    record.running++;
  }
  return undoable;
}

// What each kind of node takes, for the next plan's estimate.
void remember(State& state, const std::string& kind, int64_t took_ms) {
  for (const auto& each : state.history()) {
    if (each.value.kind != kind) continue;
    DeployPlanHistoryItem item = each.value;
    if (item.count >= 50) item = {.kind = kind, .count = item.count / 2, .totalMs = item.totalMs / 2};
    item.count++;
    item.totalMs += took_ms;
    state.history().put(each.number, item);
    return;
  }
  state.history().push({.kind = kind, .count = 1, .totalMs = took_ms});
}

void keep_result(State& state, const DeployPlanId& plan, const std::string& component, const Run::Ok& ok) {
  if (!ok.deployment && !ok.revision) return;
  for (const auto& each : state.components(plan)) {
    if (each.value.component != component) continue;
    DeployPlanComponent kept = each.value;
    if (ok.deployment) kept.deployment = *ok.deployment;
    if (ok.revision) kept.revision = *ok.revision;
    state.components(plan).put(each.number, kept);
    return;
  }
}

// What was removed runs again under another deployment: that is the one which the app's plans have brought.
void adopt(State& state, const DeployPlanId& plan, const DeployPlanRecord& record, const Undo& ask,
           const Undo::Ok& ok) {
  std::string gone;
  for (const DeployPlanComponent& each : state.components(plan).values()) {
    if (each.component == ask.target) gone = each.deployment;
  }
  if (gone.empty() || gone == *ok.deployment) return;
  for (DeployPlanFound& each : state.find_by_environment(record.environment)) {
    if (each.record.suiteName != record.suiteName || is_of_up(each.record)) continue;
    bool found = false;
    for (const auto& component : state.components(each.id)) {
      if (component.value.deployment != gone) continue;
      DeployPlanComponent kept = component.value;
      kept.deployment = *ok.deployment;
      kept.revision = ok.revision.value_or("");
      state.components(each.id).put(component.number, kept);
      found = true;
    }
    if (!found || each.id == plan) continue;
    each.record.renewed = true;
    state.put(each.id, each.record);
  }
}

}  // namespace

DeployPlanNId node_id(const DeployPlanId& plan, int64_t place) {
  return DeployPlanNId(plan.text() + "/" + std::to_string(place));
}

const DeployPlanNode& Blocks::at(int64_t place) {
  auto found = read_.find(place / kBlockNodes);
  if (found == read_.end()) {
    auto block = state_.blocks(plan_).at(place / kBlockNodes);
    if (!block) throw std::runtime_error("the plan " + plan_.text() + " has no node " + std::to_string(place));
    found = read_.emplace(place / kBlockNodes, *std::move(block)).first;
  }
  return found->second.nodes.at(static_cast<size_t>(place % kBlockNodes));
}

std::string name_of(const std::string& kind, const std::string& target) { return kind + "/" + target; }

std::vector<std::string> nodes_that(const State& state, const DeployPlanId& plan,
                                    std::initializer_list<DeployPlanStatus> statuses) {
  std::vector<std::pair<int64_t, std::string>> found;
  for (const DeployPlanNFound& each : state.find_by_of_plan(plan)) {
    if (std::ranges::find(statuses, each.record.status) == statuses.end()) continue;
    found.emplace_back(each.record.place, name_of(each.record.kind, each.record.target));
  }
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (auto& [place, name] : found) names.push_back(std::move(name));
  return names;
}

// ---------------------------------------------------------------------------------------------------------- start

Start::Result DeployPlan::start(const Start& ask, State& state) {
  auto record = state.get(ask.plan);
  if (!record) return Start::Stale{.plan = ask.plan, .message = "the plan was removed"};
  record->startedAt = state.now();
  Blocks blocks(state, ask.plan);
  auto ready = take_ready(state, ask.plan, *record, blocks);
  state.put(ask.plan, *record);
  if (ready.empty()) return Start::Nothing{.plan = ask.plan};
  return Start::Ok{.plan = ask.plan, .ready = std::move(ready)};
}

// ------------------------------------------------------------------------------------------------------------ run

Run::Begun DeployPlan::begin_run(const Run& ask, State& state) {
  const DeployPlanNId id = node_id(ask.plan, ask.place);
  state.put(id, {.ofPlan = ask.plan,
                 .place = ask.place,
                 .kind = ask.kind,
                 .target = ask.target,
                 .status = DeployPlanStatus::running,
                 .run = state.request(),
                 .beganAt = state.now()});
  return lang::Opened{};
}

Run::Outcome DeployPlan::finish_run(const Run& ask, const Run::Outcome& outcome, State& state) {
  const DeployPlanNId id = node_id(ask.plan, ask.place);
  auto node = state.get(id);
  auto record = state.get(ask.plan);
  if (!node || !record) return outcome;
  const auto* ok = get_if<Run::Ok>(&outcome);
  node->overAt = state.now();
  record->running--;
  must_hold(record->running >= 0, "a node that ends has begun");
  Blocks blocks(state, ask.plan);
  if (ok != nullptr) {
    node->status = DeployPlanStatus::done;
    record->done++;
    must_hold(record->done <= record->summary.nodes, "a node is done once");
    remember(state, ask.kind, node->overAt->ms - node->beganAt.value_or(*node->overAt).ms);
    keep_result(state, ask.plan, ask.target, *ok);
    if (ok->changed) record->changed = ok->changed;
    const std::vector<int64_t> after = blocks.at(ask.place).after;
    for (int64_t each : after) {
      const int64_t waits = blocks.at(each).waits;
      const DeployPlanNId next = node_id(ask.plan, each);
      int64_t left = waits - 1;
      if (waits > 1) {
        if (auto waiting = state.get(next)) left = waiting->waits - 1;
        const DeployPlanNode& known = blocks.at(each);
        state.put(next, {.ofPlan = ask.plan,
                         .place = each,
                         .kind = known.kind,
                         .target = known.target,
                         .status = DeployPlanStatus::waiting,
                         .waits = left});
      }
      if (left == 0) state.backlog(ask.plan).push({.next = each});
    }
  } else {
    const auto* failed = get_if<Run::Failed>(&outcome);
    const auto* end = get_if<lang::EngineEnd>(&outcome);
    node->trouble = failed != nullptr ? failed->reason : end->message;
    if (failed != nullptr && failed->lastLines) state.last_lines(id).assign(*failed->lastLines);
    node->status = end != nullptr && end->maybe_done ? DeployPlanStatus::unknown : DeployPlanStatus::failed;
    if (record->reason.empty()) record->reason = name_of(ask.kind, ask.target) + ": " + node->trouble;
  }
  state.put(id, *node);
  std::vector<DeployPlanReadyItem> ready;
  if (record->reason.empty()) ready = take_ready(state, ask.plan, *record, blocks);
  std::string phase = "running";
  if (record->done == record->summary.nodes) {
    phase = "complete";
  } else if (!record->reason.empty() && record->running == 0) {
    const bool stop = record->onFailure == DeployPlanOnFailure::stop;
    record->currentPhase = stop ? Phase::stopped : Phase::broken;
    phase = stop ? "stopped" : "broken";
  }
  state.put(ask.plan, *record);
  if (ok == nullptr) {
    const auto* failed = get_if<Run::Failed>(&outcome);
    return Run::Failed{
        .phase = phase, .reason = node->trouble, .lastLines = failed != nullptr ? failed->lastLines : std::nullopt};
  }
  return Run::Ok{.ready = std::move(ready),
                 .phase = phase,
                 .deployment = ok->deployment,
                 .revision = ok->revision,
                 .changed = ok->changed};
}

// ----------------------------------------------------------------------------------------------------------- undo

UndoNext::Result DeployPlan::undo_next(const UndoNext& ask, State& state) {
  auto record = state.get(ask.plan);
  if (!record) return UndoNext::Nothing{.plan = ask.plan};
  std::map<int64_t, DeployPlanNFound> done;
  for (DeployPlanNFound& each : state.find_by_of_plan(ask.plan)) {
    if (was_done(each.record)) done.emplace(each.record.place, std::move(each));
  }
  Blocks blocks(state, ask.plan);
  for (auto& [place, node] : done) {
    node.record.waits = 0;
    for (int64_t each : blocks.at(place).after) node.record.waits += done.contains(each) ? 1 : 0;
    state.put(node.id, node.record);
    if (node.record.waits == 0) state.backlog(ask.plan).push({.next = place});
  }
  auto undoable = take_undoable(state, ask.plan, *record);
  state.put(ask.plan, *record);
  if (undoable.empty()) return UndoNext::Nothing{.plan = ask.plan};
  return UndoNext::Ok{.plan = ask.plan, .undoable = std::move(undoable)};
}

Undo::Begun DeployPlan::begin_undo(const Undo&, State&) { return lang::Opened{}; }

Undo::Outcome DeployPlan::finish_undo(const Undo& ask, const Undo::Outcome& outcome, State& state) {
  const DeployPlanNId id = node_id(ask.plan, ask.place);
  auto node = state.get(id);
  auto record = state.get(ask.plan);
  if (!node || !record) return outcome;
  const bool ok = ended_of(outcome) == Undo::Ended::ok;
  node->overAt = state.now();
  record->running--;
  Blocks blocks(state, ask.plan);
  if (ok) {
    node->status = DeployPlanStatus::undone;
    node->trouble.clear();  // of an earlier try
    const auto& how = *get_if<Undo::Ok>(&outcome);
    if (how.deployment) adopt(state, ask.plan, *record, ask, how);
    for (int64_t each : blocks.at(ask.place).before) {
      auto before = state.get(node_id(ask.plan, each));
      if (!before || !was_done(*before)) continue;
      before->waits--;
      must_hold(before->waits >= 0, "a node waits only for those that come after it");
      state.put(node_id(ask.plan, each), *before);
      if (before->waits == 0) state.backlog(ask.plan).push({.next = each});
    }
  } else {
    const auto* stuck = get_if<Undo::Stuck>(&outcome);
    node->status = DeployPlanStatus::stuck;
    node->trouble = stuck != nullptr ? stuck->reason : reason_of(outcome);
  }
  state.put(id, *node);
  auto undoable = take_undoable(state, ask.plan, *record);
  state.put(ask.plan, *record);
  std::string phase = "undoing";
  if (record->running == 0) {
    phase = nodes_that(state, ask.plan, {DeployPlanStatus::stuck}).empty() ? "undone" : "partial";
  }
  if (ok) return Undo::Ok{.undoable = std::move(undoable), .phase = phase};
  return Undo::Stuck{.undoable = std::move(undoable), .phase = phase, .reason = node->trouble};
}

}  // namespace sluice::deploy::deploy_plan
