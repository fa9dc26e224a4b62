// How a rollout begins, waits for its turn and ends. One rollout a deployment moves traffic at a time; what comes after
// it waits in a queue, or takes its place.
#include "base/basis_points.h"
#include "base/duration.h"
#include "deploy/concepts/rollout/rollout_rows.h"
#include "deploy/rollout_criteria.h"
#include "deploy/rollout_steps.h"
#include "deploy/telemetry_backends.h"

namespace sluice::deploy::rollout {
namespace {

constexpr size_t kEndedKept = 50;
constexpr int64_t kLongest_s = 30L * 24 * 3600;

Result<RolloutStrategy> strategy_named(const std::string& name) {
  auto known = parse_strategy(name);
  if (!known) return known.error();
  if (*known == kBlueGreen) return RolloutStrategy::blue_green;
  if (*known == kRolling) return RolloutStrategy::rolling;
  if (*known == kImmediate) return RolloutStrategy::immediate;
  return RolloutStrategy::canary;
}

Result<std::vector<RolloutStep>> steps_of(const Begin& ask) {
  auto written = parse_steps(ask.steps.value_or(std::vector<std::string>()), ask.strategy.value_or(""));
  if (!written) return written.error();
  std::vector<RolloutStep> steps;
  for (const WrittenStep& each : *written) {
    steps.push_back({.weightBps = each.weight_bps, .pauseSeconds = each.pause_s, .manual = each.manual});
  }
  return steps;
}

struct Wish {
  RolloutRecord record;
  std::vector<RolloutStep> steps;
};

constexpr int64_t kMostReplicas = 1'000;

// What does not go together with a strategy.
std::string fault_of_rolling(const Begin& ask, bool rolling) {
  if (!rolling) {
    if (ask.batch || ask.batchPause) return "a batch is of rolling alone";
    return "";
  }
  if (ask.batch && (*ask.batch < 1 || *ask.batch > kMostReplicas)) return "a batch is 1 to 1000 replicas";
  if (ask.rollbackSeconds.value_or(0) > 0) return "rolling returns at once, when the replaced replicas run again";
  if (ask.scaleDownDelay.value_or(0) > 0) return "rolling stops the old replicas as it goes; it has no scaleDownDelay";
  return "";
}

std::string fault_of_times(const Begin& ask, const Wish& wish) {
  for (const auto& time : {ask.after, ask.scaleDownDelay, ask.progressDeadline, ask.rollbackSeconds, ask.batchPause}) {
    if (time && (*time < 0 || *time > kLongest_s)) return "a time is 0 to 30 days";
  }
  if (wish.record.holdbackBps < 0 || wish.record.holdbackBps > 5'000) return "holdback is 0% to 50%";
  if (wish.record.holdbackBps > 0 && wish.record.afterSeconds == 0) {
    return "holdback is what the old revision keeps while the new one is judged after 100%; say how long with `after`";
  }
  if (wish.record.progressDeadline > 0 && ask.batchPause.value_or(0) >= wish.record.progressDeadline) {
    return "a batch stays longer than the progress deadline of " +
           print_duration(std::chrono::seconds(wish.record.progressDeadline));
  }
  for (size_t i = 0; wish.record.progressDeadline > 0 && i < wish.steps.size(); ++i) {
    if (wish.steps[i].pauseSeconds < wish.record.progressDeadline) continue;
    return "step " + std::to_string(i + 1) + " stays longer than the progress deadline of " +
           print_duration(std::chrono::seconds(wish.record.progressDeadline));
  }
  return "";
}

Result<Wish> wish_of(const Begin& ask) {
  auto strategy = strategy_named(ask.strategy.value_or(""));
  if (!strategy) return strategy.error();
  auto criteria = parse_criteria(ask.criteria.value_or(""));
  if (!criteria) return criteria.error();
  if (const std::string fault = fault_of_key(criteria->source ? criteria->source->key : "", ask.caller);
      !fault.empty()) {
    return Error{.code = Code::invalid, .message = "criteria: source: " + fault};
  }
  if (std::string fault = fault_of_rolling(ask, *strategy == RolloutStrategy::rolling); !fault.empty()) {
    return Error{.code = Code::invalid, .message = fault};
  }
  auto steps = steps_of(ask);
  if (!steps) return steps.error();
  const std::string concurrency = ask.concurrency.value_or("queue");
  if (concurrency != "queue" && concurrency != "supersede") {
    return Error{.code = Code::invalid, .message = "concurrency is queue or supersede, not " + concurrency};
  }
  Wish wish{
      .record = {.deployment = ask.deployment,
                 .concept_ = ask.revision,
                 .plan = ask.plan.value_or(""),
                 .group = ask.group.value_or(""),
                 .place = ask.place.value_or(0),
                 .by = ask.caller.value_or(""),
                 .strategy = *strategy,
                 .concurrency = concurrency == "queue" ? RolloutConcurrency::queue : RolloutConcurrency::supersede,
                 .criteria = ask.criteria.value_or(""),
                 .autoRollback = ask.autoRollback.value_or(true),
                 .afterSeconds = ask.after.value_or(0),
                 .holdbackBps = ask.holdbackBps.value_or(0),
                 .scaleDownDelay = ask.scaleDownDelay.value_or(0),
                 .progressDeadline = ask.progressDeadline.value_or(0),
                 .rollbackSeconds = ask.rollbackSeconds.value_or(0),
                 .batch = ask.batch,
                 .batchPause = ask.batchPause,
                 .status = RolloutStatus::queued,
                 .attempt = 1},
      .steps = *std::move(steps)};
  if (std::string fault = fault_of_times(ask, wish); !fault.empty()) {
    return Error{.code = Code::invalid, .message = fault};
  }
  // The last replicas of the old revision are no way back: a rollback warms it whole.
  if (*strategy == RolloutStrategy::rolling) wish.record.scaleDownDelay = 1;
  return wish;
}

// What it takes the place of ends; where traffic returns to stays the same.
void supersede(State& state, RolloutRecord& next, std::vector<RolloutBeforeItem>& before) {
  for (const RolloutFound& each : of_deployment(state, next.deployment)) {
    if (!is_under_way(each.record.status) || each.record.status == RolloutStatus::returning) continue;
    // It has stopped replicas that the next one would need: the next one waits for its end.
    if (each.record.strategy == RolloutStrategy::rolling && each.record.step > 0) continue;
    if (each.record.step > 0) {
      next.baseline = each.record.baseline;
      before = state.before(each.id).values();
    }
    end(state, each.id, RolloutStatus::superseded, "a newer rollout takes its place");
  }
}

void keep_newest(State& state, const std::string& deployment) {
  auto all = of_deployment(state, deployment);
  for (size_t i = 0; i + kEndedKept < all.size(); ++i) {
    if (is_under_way(all[i].record.status) || all[i].record.run || all[i].record.watching) continue;
    state.steps(all[i].id).clear();
    state.before(all[i].id).clear();
    state.sizes(all[i].id).clear();
    state.erase(all[i].id);
  }
}

int64_t next_number(const State& state) {
  int64_t last = 0;
  for (const auto& each : state.all()) last = std::max(last, each.record.number);
  return last + 1;
}

}  // namespace

bool is_under_way(RolloutStatus status) {
  switch (status) {
    case RolloutStatus::queued:
    case RolloutStatus::due:
    case RolloutStatus::running:
    case RolloutStatus::paused:
    case RolloutStatus::returning:
    case RolloutStatus::stuck:
      return true;
    case RolloutStatus::watching:
    case RolloutStatus::complete:
    case RolloutStatus::aborted:
    case RolloutStatus::superseded:
      return false;
  }
  return false;
}

std::string_view name_of(RolloutStatus status) { return boost::describe::enum_to_string(status, "unknown"); }

std::vector<RolloutFound> of_deployment(const State& state, const std::string& deployment) {
  auto all = state.find_by_deployment(deployment);
  std::ranges::sort(all, {}, [](const RolloutFound& each) { return each.record.number; });
  return all;
}

void release(State& state, const std::string& deployment) {
  for (const RolloutFound& each : of_deployment(state, deployment)) {
    if (!is_under_way(each.record.status)) continue;
    if (each.record.status == RolloutStatus::queued) {
      state.edit(each.id, [](RolloutRecord& record) { record.status = RolloutStatus::due; });
    }
    return;
  }
}

void end(State& state, const RolloutId& id, RolloutStatus status, const std::string& reason) {
  state.edit(id, [&](RolloutRecord& record) {
    record.status = status;
    record.reason = reason;
    record.endedAt = state.now();
    if (status == RolloutStatus::stuck) return;  // replicas may still be on their way
    record.oldCap.reset();
    record.newCap.reset();
  });
}

Begin::Result Rollout::begin(const Begin& ask, State& state) {
  auto wish = wish_of(ask);
  if (!wish) return Begin::InvalidStrategy{.message = wish.error().message};
  for (const RolloutFound& each : of_deployment(state, ask.deployment)) {
    if (!is_under_way(each.record.status) || each.record.concept_ != ask.revision) continue;
    return Begin::Exists{.rollout = each.id,
                         .message = "a rollout of this revision is " + std::string(name_of(each.record.status)) +
                                    " already: " + each.id.text()};
  }
  wish->record.number = next_number(state);
  wish->record.startedAt = wish->record.steppedAt = state.now();
  std::vector<RolloutBeforeItem> before;
  if (wish->record.concurrency == RolloutConcurrency::supersede) supersede(state, wish->record, before);
  const RolloutId id = state.add(wish->record);
  state.steps(id).assign(wish->steps);
  state.before(id).assign(before);
  release(state, ask.deployment);
  keep_newest(state, ask.deployment);
  return Begin::Ok{.rollout = id};
}

Run::Begun Rollout::begin_run(const Run& ask, State& state) {
  state.edit(ask.rollout, [&](RolloutRecord& record) { record.run = state.request(); });
  return lang::Opened{};
}

Run::Outcome Rollout::finish_run(const Run& ask, const Run::Outcome& outcome, State& state) {
  auto record = state.get(ask.rollout);
  if (!record) return outcome;
  record->run.reset();
  // Whoever cancelled the flow did not say where traffic is to go.
  if (const auto* engine = get_if<lang::EngineEnd>(&outcome); engine != nullptr && is_under_way(record->status)) {
    record->status = RolloutStatus::stuck;
    record->reason = "its flow was ended: " + engine->message;
  }
  state.put(ask.rollout, *record);
  release(state, record->deployment);
  const auto* ok = get_if<Run::Ok>(&outcome);
  if (ok == nullptr) return outcome;
  Run::Ok told{.rollout = ask.rollout};
  for (const RolloutBeforeItem& each : state.before(ask.rollout).values()) {
    told.before.push_back({.revision = each.revision, .weightBps = each.weightBps});
  }
  return told;
}

AwaitTurn::Begun Rollout::begin_await_turn(const AwaitTurn& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record || !is_under_way(record->status)) return AwaitTurn::Withdrawn{.rollout = ask.rollout};
  if (record->status == RolloutStatus::due) return AwaitTurn::Ok{.rollout = ask.rollout};
  record->turn = state.request();
  state.put(ask.rollout, *record);
  return lang::Opened{};
}

AwaitTurn::Outcome Rollout::finish_await_turn(const AwaitTurn& ask, const AwaitTurn::Outcome& outcome, State& state) {
  state.edit(ask.rollout, [](RolloutRecord& record) { record.turn.reset(); });
  return outcome;
}

Prepare::Result Rollout::prepare(const Prepare& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record || record->status != RolloutStatus::due) return Prepare::Withdrawn{.rollout = ask.rollout};
  // The one that was watched has become what this one is compared with.
  for (const RolloutFound& each : of_deployment(state, record->deployment)) {
    if (each.record.status == RolloutStatus::watching) {
      end(state, each.id, RolloutStatus::complete, "a newer rollout has begun");
    }
  }
  if (record->baseline.empty()) {
    int64_t most = 0;
    std::vector<RolloutBeforeItem> before;
    for (const RolloutEntry& each : ask.entries) {
      if (each.revision == record->concept_ || each.weightBps == 0) continue;
      before.push_back({.revision = each.revision, .weightBps = each.weightBps});
      if (each.weightBps > most) record->baseline = each.revision;
      most = std::max(most, each.weightBps);
    }
    int64_t left = kAllBasisPoints;
    for (const RolloutBeforeItem& each : before) left -= each.weightBps;
    for (RolloutBeforeItem& each : before) {
      if (each.revision == record->baseline) each.weightBps += left;
    }
    state.before(ask.rollout).assign(before);
  }
  // Without another revision there is nobody to compare with, and nothing to take away from anybody.
  if (record->baseline.empty()) {
    state.steps(ask.rollout).assign({{.weightBps = kAllBasisPoints}});
    record->holdbackBps = 0;
  }
  record->status = RolloutStatus::running;
  record->startedAt = record->steppedAt = state.now();
  const bool sized = record->strategy == RolloutStrategy::rolling && !record->baseline.empty();
  if (sized) {
    record->oldRuns.reset();
    record->newRuns.reset();
    record->shifted.reset();
  }
  state.put(ask.rollout, *record);
  if (sized) {
    return Prepare::Size{.rollout = ask.rollout, .oldRevision = record->baseline, .newRevision = record->concept_};
  }
  return Prepare::Ok{.rollout = ask.rollout};
}

Retry::Result Rollout::retry(const Retry& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record) return Retry::NotFound{.rollout = ask.rollout, .message = "there is no rollout " + ask.rollout.text()};
  if (is_under_way(record->status) && record->status != RolloutStatus::stuck) {
    return Retry::NotEnded{
        .rollout = ask.rollout,
        .message = "it is " + std::string(name_of(record->status)) + ": resume, advance or abort it"};
  }
  const bool served = record->status == RolloutStatus::watching || record->status == RolloutStatus::complete;
  if (served || record->status == RolloutStatus::superseded) {
    return Retry::NotEnded{.rollout = ask.rollout,
                           .message = "it is " + std::string(name_of(record->status)) + "; begin a new rollout"};
  }
  record->number = next_number(state);
  record->status = RolloutStatus::queued;
  record->reason.clear();
  record->baseline.clear();
  record->step = record->passed = record->weightBps = record->pauseSeconds = 0;
  record->attempt++;
  record->startedAt = record->steppedAt = state.now();
  record->endedAt.reset();
  state.put(ask.rollout, *record);
  release(state, record->deployment);
  return Retry::Ok{.rollout = ask.rollout};
}

Drop::Result Rollout::drop(const Drop& ask, State& state) {
  for (const RolloutFound& each : of_deployment(state, ask.deployment)) {
    if (is_under_way(each.record.status) || each.record.status == RolloutStatus::watching) {
      end(state, each.id, RolloutStatus::aborted, ask.reason);
    }
  }
  return Drop::Ok{.deployment = ask.deployment};
}

Forget::Result Rollout::forget(const Forget& ask, State& state) {
  for (const RolloutFound& each : of_deployment(state, ask.deployment)) {
    state.steps(each.id).clear();
    state.before(each.id).clear();
    state.sizes(each.id).clear();
    state.erase(each.id);
  }
  return Forget::Ok{.deployment = ask.deployment};
}

Status::Result Rollout::status(const Status& ask, const State& state) {
  auto record = state.get(ask.rollout);
  if (!record) return Status::NotFound{.rollout = ask.rollout, .message = "there is no rollout " + ask.rollout.text()};
  const lang::DateTime until = record->endedAt.value_or(state.now());
  return Status::Ok{.rollout = ask.rollout,
                    .step = record->step,
                    .steps = static_cast<int64_t>(state.steps(ask.rollout).values().size()),
                    .weight = record->weightBps,
                    .status = std::string(name_of(record->status)),
                    .reason = record->reason,
                    .elapsed = (until.ms - record->startedAt.ms) / 1'000};
}

}  // namespace sluice::deploy::rollout
