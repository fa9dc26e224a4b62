// One scaling is open at a time. What follows from its end is decided by where the rollout is then, not by why it
// began: meanwhile somebody may have paused, advanced or aborted it.
#include "deploy/concepts/rollout/rollout_replicas.h"

#include <algorithm>

#include "base/basis_points.h"

namespace sluice::deploy::rollout {
namespace {

constexpr int64_t kMostSizes = 1'000;

bool is_moving(RolloutStatus status) {
  return status == RolloutStatus::running || status == RolloutStatus::paused || status == RolloutStatus::watching;
}

}  // namespace

bool is_rolling(const RolloutRecord& record) {
  return record.strategy == RolloutStrategy::rolling && record.oldReplicas && record.newReplicas;
}

std::vector<RolloutSize> rolling_sizes(int64_t old_replicas, int64_t new_replicas, int64_t batch) {
  std::vector<RolloutSize> sizes;
  int64_t before = 0;
  while (before < new_replicas && static_cast<int64_t>(sizes.size()) < kMostSizes) {
    const int64_t now = std::min(before + batch, new_replicas);
    sizes.push_back({.newReplicas = now, .oldReplicas = std::max<int64_t>(old_replicas - before, 1)});
    before = now;
  }
  return sizes;
}

int64_t weight_of(const RolloutSize& size) {
  return kAllBasisPoints * size.newReplicas / (size.newReplicas + size.oldReplicas);
}

RolloutSize size_at(const State& state, const RolloutId& id, const RolloutRecord& record) {
  const auto sizes = state.sizes(id).values();
  if (sizes.empty() || record.step < 1) return {};
  return sizes[std::min(static_cast<size_t>(record.step), sizes.size()) - 1];
}

Replicas next_replicas(const State& state, const RolloutId& id, const RolloutRecord& record) {
  const int64_t old_runs = record.oldRuns.value_or(0), new_runs = record.newRuns.value_or(0);
  auto scale = [](const std::string& revision, int64_t count) {
    return Replicas{.move = Replicas::Move::scale, .revision = revision, .count = count};
  };
  if (record.status == RolloutStatus::returning) {
    const int64_t wanted = record.oldReplicas.value_or(1);
    if (old_runs < wanted) return scale(record.baseline, wanted);
    return {.move = Replicas::Move::shift};
  }
  if (!is_moving(record.status)) return {};
  const RolloutSize wanted = size_at(state, id, record);
  if (record.shifted != record.step) {
    if (record.status != RolloutStatus::running) return {};
    if (new_runs < wanted.newReplicas) return scale(record.concept_, wanted.newReplicas);
    if (old_runs < wanted.oldReplicas) return scale(record.baseline, wanted.oldReplicas);
    return {.move = Replicas::Move::shift};
  }
  if (new_runs > wanted.newReplicas) return scale(record.concept_, wanted.newReplicas);
  if (old_runs > wanted.oldReplicas) return scale(record.baseline, wanted.oldReplicas);
  return {};
}

void note_shift(const State& state, const RolloutId& id, RolloutRecord& record) {
  const RolloutSize size = size_at(state, id, record);
  record.shifted = record.step;
  record.newCap = size.newReplicas;
  record.oldCap = size.oldReplicas;
}

Size::Result Rollout::size(const Size& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record || record->status != RolloutStatus::running || record->step != 0) {
    return Size::Stale{.rollout = ask.rollout};
  }
  const int64_t runs = std::max<int64_t>(ask.replicas, 1);
  const bool is_new = ask.revision == record->concept_;
  (is_new ? record->newRuns : record->oldRuns) = runs;
  // A second attempt may find fewer than there are to be.
  auto& all = is_new ? record->newReplicas : record->oldReplicas;
  all = std::max(all.value_or(0), runs);
  state.put(ask.rollout, *record);
  if (!record->newRuns || !record->oldRuns) return Size::Waiting{.rollout = ask.rollout};
  const auto sizes = rolling_sizes(*record->oldReplicas, *record->newReplicas, record->batch.value_or(1));
  std::vector<RolloutStep> steps;
  for (const RolloutSize& each : sizes) {
    steps.push_back({.weightBps = weight_of(each), .pauseSeconds = record->batchPause.value_or(0)});
  }
  steps.push_back({.weightBps = kAllBasisPoints});
  state.sizes(ask.rollout).assign(sizes);
  state.steps(ask.rollout).assign(steps);
  return Size::Ok{.rollout = ask.rollout};
}

Shrink::Result Rollout::shrink(const Shrink& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record || !is_rolling(*record) || record->scaling || record->shifted != record->step) {
    return Shrink::Stale{.rollout = ask.rollout};
  }
  const Replicas next = next_replicas(state, ask.rollout, *record);
  if (next.move != Replicas::Move::scale) return Shrink::Stale{.rollout = ask.rollout};
  record->scaling = true;
  state.put(ask.rollout, *record);
  return Shrink::Scale{.rollout = ask.rollout, .revision = next.revision, .replicas = next.count};
}

Resize::Begun Rollout::begin_resize(const Resize& ask, State& state) {
  if (!state.has(ask.rollout)) return Resize::Stale{.rollout = ask.rollout};
  return lang::Opened{};
}

Resize::Outcome Rollout::finish_resize(const Resize& ask, const Resize::Outcome& outcome, State& state) {
  auto record = state.get(ask.rollout);
  if (!record) return Resize::Stale{.rollout = ask.rollout};
  std::optional<std::string> failure;
  if (const auto* failed = get_if<Resize::Failed>(&outcome)) failure = failed->reason;
  if (const auto* engine = get_if<lang::EngineEnd>(&outcome)) failure = engine->message;
  record->scaling.reset();
  const bool is_new = ask.revision == record->concept_;
  auto& runs = is_new ? record->newRuns : record->oldRuns;
  const bool grew = ask.replicas >= runs.value_or(0);
  if (!failure) {
    runs = ask.replicas;
    // The registry knows by now what routers may use.
    if (!grew) (is_new ? record->newCap : record->oldCap).reset();
  }
  const bool returning = record->status == RolloutStatus::returning;
  if (returning) {
    record->oldCap.reset();
    record->newCap.reset();
  }
  const bool waits_for_it = record->status == RolloutStatus::running && record->shifted != record->step;
  if (failure && grew && (returning || waits_for_it)) {
    state.put(ask.rollout, *record);
    if (returning && !is_new) {
      return Resize::Stuck{.rollout = ask.rollout,
                           .reason =
                               "traffic stays as it is: the old revision could not start the replicas again that "
                               "were replaced: " +
                               *failure};
    }
    if (waits_for_it) {
      return Resize::Failed{.rollout = ask.rollout, .reason = "replicas could not be started: " + *failure};
    }
  }
  // What could not be stopped runs on without traffic; the next step tries again.
  Replicas next;
  if (!failure || returning || waits_for_it) next = next_replicas(state, ask.rollout, *record);
  if (next.move == Replicas::Move::scale) {
    record->scaling = true;
    state.put(ask.rollout, *record);
    return Resize::Scale{.rollout = ask.rollout, .revision = next.revision, .replicas = next.count};
  }
  if (next.move == Replicas::Move::nothing) {
    state.put(ask.rollout, *record);
    return Resize::Stale{.rollout = ask.rollout};
  }
  if (returning) {
    record->step = record->weightBps = 0;
    state.put(ask.rollout, *record);
    return Resize::Ok{.rollout = ask.rollout, .move = "home", .entries = entries_before(state, ask.rollout)};
  }
  note_shift(state, ask.rollout, *record);
  state.put(ask.rollout, *record);
  return Resize::Ok{.rollout = ask.rollout,
                    .step = record->step,
                    .move = move_of(state, ask.rollout, *record),
                    .entries = entries_at(*record, record->weightBps)};
}

}  // namespace sluice::deploy::rollout
