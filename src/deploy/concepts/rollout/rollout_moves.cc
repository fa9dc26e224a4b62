// How a rollout moves: forward a step at a time, back at once or a step at a time. Each move names the weights that
// Traffic is to have, and in `move` what comes when the routers have acknowledged them.
#include <algorithm>

#include "base/basis_points.h"
#include "base/duration.h"
#include "deploy/concepts/rollout/rollout_replicas.h"
#include "deploy/concepts/rollout/rollout_rows.h"
#include "deploy/invariant.h"

namespace sluice::deploy::rollout {
namespace {

std::string no_such(const RolloutId& id) { return "there is no rollout " + id.text(); }

// Those that move with it and are not as far yet.
std::vector<RolloutFound> behind_in_group(const State& state, const RolloutId& id, const RolloutRecord& record) {
  std::vector<RolloutFound> behind;
  if (record.group.empty()) return behind;
  for (const RolloutFound& each : state.find_by_group(record.group)) {
    if (each.id == id || !is_under_way(each.record.status)) continue;
    if (each.record.passed < record.passed) behind.push_back(each);
  }
  return behind;
}

// The next weight on the way back; nothing: home.
std::optional<RolloutStep> step_back(const State& state, const RolloutId& id, const RolloutRecord& record) {
  if (record.rollbackSeconds == 0 || record.step < 2) return std::nullopt;
  return state.steps(id).values()[static_cast<size_t>(record.step) - 2];
}

struct Back {
  std::string move;
  std::vector<RolloutEntry> entries;
};

Back go_back(State& state, const RolloutId& id, RolloutRecord& record) {
  if (auto step = step_back(state, id, record)) {
    record.step--;
    record.weightBps = step->weightBps;
    return {"recede", entries_at(record, step->weightBps)};
  }
  record.step = 0;
  record.weightBps = 0;
  return {"home", entries_before(state, id)};
}

}  // namespace

std::vector<RolloutEntry> entries_at(const RolloutRecord& record, int64_t weight_bps) {
  std::vector<RolloutEntry> entries = {{.revision = record.concept_, .weightBps = weight_bps}};
  if (weight_bps < kAllBasisPoints) {
    entries.push_back({.revision = record.baseline, .weightBps = kAllBasisPoints - weight_bps});
  }
  return entries;
}

std::vector<RolloutEntry> entries_before(const State& state, const RolloutId& id) {
  std::vector<RolloutEntry> entries;
  for (const RolloutBeforeItem& each : state.before(id).values()) {
    entries.push_back({.revision = each.revision, .weightBps = each.weightBps});
  }
  return entries;
}

std::string move_of(const State& state, const RolloutId& id, const RolloutRecord& record) {
  const auto steps = state.steps(id).values();
  if (record.step == static_cast<int64_t>(steps.size())) return "finish";
  return steps[static_cast<size_t>(record.step) - 1].manual ? "hold" : "judge";
}

Advance::Result Rollout::advance(const Advance& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record) return Advance::NotFound{.rollout = ask.rollout, .message = no_such(ask.rollout)};
  const bool by_hand = !ask.step.has_value();
  const bool moves = record->status == RolloutStatus::running || (by_hand && record->status == RolloutStatus::paused);
  if (!by_hand && record->status == RolloutStatus::paused) {
    return Advance::Paused{.rollout = ask.rollout, .reason = record->reason};
  }
  if (!moves || (ask.step && *ask.step != record->step)) {
    return Advance::Stale{
        .rollout = ask.rollout,
        .message = "it is " + std::string(name_of(record->status)) + " at step " + std::to_string(record->step)};
  }
  const auto steps = state.steps(ask.rollout).values();
  const auto last = static_cast<int64_t>(steps.size());
  if (by_hand && record->step == 0) {
    return Advance::Stale{.rollout = ask.rollout, .message = "its first step is just being made"};
  }
  if (record->step == last) {
    if (by_hand) return Advance::Stale{.rollout = ask.rollout, .message = "it is at its last step"};
    const bool watch = record->afterSeconds > 0;
    record->status = watch ? RolloutStatus::watching : RolloutStatus::complete;
    record->reason.clear();
    record->steppedAt = state.now();
    if (!watch) record->endedAt = state.now();
    state.put(ask.rollout, *record);
    return Advance::Complete{.rollout = ask.rollout, .watch = watch};
  }
  record->passed = std::max(record->passed, record->step);
  if (auto behind = behind_in_group(state, ask.rollout, *record); !behind.empty() && record->step > 0) {
    record->reason =
        "waits for the other rollouts of " + record->group + " to pass step " + std::to_string(record->step);
    state.put(ask.rollout, *record);
    return Advance::Waiting{.rollout = ask.rollout, .message = record->reason};
  }
  record->step = ask.full.value_or(false) ? last : record->step + 1;
  must_hold(record->step >= 1 && record->step <= last, "a rollout is at one of its steps");
  const RolloutStep& step = steps[static_cast<size_t>(record->step) - 1];
  const bool final = record->step == last;
  record->weightBps = final ? kAllBasisPoints - record->holdbackBps : step.weightBps;
  record->pauseSeconds = step.pauseSeconds;
  record->status = RolloutStatus::running;
  record->reason.clear();
  record->steppedAt = state.now();
  if (is_rolling(*record)) {
    if (record->scaling) {
      state.put(ask.rollout, *record);
      return Advance::Scaling{.rollout = ask.rollout, .message = std::string(kScaling)};
    }
    const Replicas next = next_replicas(state, ask.rollout, *record);
    if (next.move == Replicas::Move::scale) {
      record->scaling = true;
      state.put(ask.rollout, *record);
      return Advance::Scale{.rollout = ask.rollout, .revision = next.revision, .replicas = next.count};
    }
    note_shift(state, ask.rollout, *record);
  }
  state.put(ask.rollout, *record);
  return Advance::Ok{.rollout = ask.rollout,
                     .step = record->step,
                     .newWeight = record->weightBps,
                     .move = move_of(state, ask.rollout, *record),
                     .entries = entries_at(*record, record->weightBps)};
}

Judge::Begun Rollout::begin_judge(const Judge& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record || record->status != RolloutStatus::running || record->step != ask.step || record->judging) {
    return Judge::Stale{.rollout = ask.rollout};
  }
  record->judging = state.request();
  state.put(ask.rollout, *record);
  return lang::Opened{};
}

Judge::Outcome Rollout::finish_judge(const Judge& ask, const Judge::Outcome& outcome, State& state) {
  state.edit(ask.rollout, [&](RolloutRecord& record) {
    if (record.judging == state.request()) record.judging.reset();
  });
  if (const auto* engine = get_if<lang::EngineEnd>(&outcome);
      engine != nullptr && engine->outcome != lang::EngineOutcome::cancelled) {
    return Judge::Undecided{.rollout = ask.rollout, .reason = engine->message};
  }
  if (get_if<Judge::Overdue>(&outcome) != nullptr) {
    auto record = state.get(ask.rollout).value_or(RolloutRecord{});
    return Judge::Overdue{.rollout = ask.rollout,
                          .reason = "it has not moved from step " + std::to_string(ask.step) + " for " +
                                    print_duration(std::chrono::seconds(record.progressDeadline))};
  }
  if (get_if<Judge::Ok>(&outcome) != nullptr) return Judge::Ok{.rollout = ask.rollout, .step = ask.step};
  return outcome;
}

Watch::Begun Rollout::begin_watch(const Watch& ask, State& state) {
  auto record = state.get(ask.rollout);
  const bool wanted = record &&
                      (record->status == RolloutStatus::paused || record->status == RolloutStatus::watching) &&
                      !record->watching && record->weightBps > 0;
  if (!wanted) return Watch::Stale{.rollout = ask.rollout};
  record->watching = state.request();
  state.put(ask.rollout, *record);
  return lang::Opened{};
}

Watch::Outcome Rollout::finish_watch(const Watch& ask, const Watch::Outcome& outcome, State& state) {
  const auto* worse = get_if<Watch::Unhealthy>(&outcome);
  state.edit(ask.rollout, [&](RolloutRecord& record) {
    if (record.watching == state.request()) record.watching.reset();
    // Nobody takes it back by itself, so people must see why they should.
    if (worse != nullptr && !record.autoRollback) record.reason = worse->reason;
  });
  return outcome;
}

Pause::Result Rollout::pause(const Pause& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record) return Pause::NotFound{.rollout = ask.rollout, .message = no_such(ask.rollout)};
  if (record->status != RolloutStatus::running) {
    return Pause::NotRunning{.rollout = ask.rollout,
                             .message = "it is " + std::string(name_of(record->status)) + ", not running"};
  }
  record->status = RolloutStatus::paused;
  record->reason = ask.reason;
  state.put(ask.rollout, *record);
  return Pause::Ok{.rollout = ask.rollout};
}

Resume::Result Rollout::resume(const Resume& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record) return Resume::NotFound{.rollout = ask.rollout, .message = no_such(ask.rollout)};
  if (record->status != RolloutStatus::paused) {
    return Resume::NotPaused{.rollout = ask.rollout,
                             .message = "it is " + std::string(name_of(record->status)) + ", not paused"};
  }
  record->status = RolloutStatus::running;
  record->reason.clear();
  record->steppedAt = state.now();
  // Paused while replicas came: traffic has not followed yet.
  if (is_rolling(*record) && record->shifted != record->step) {
    if (record->scaling) {
      state.put(ask.rollout, *record);
      return Resume::Scaling{.rollout = ask.rollout, .message = std::string(kScaling)};
    }
    const RolloutSize wanted = size_at(state, ask.rollout, *record);
    record->scaling = true;
    state.put(ask.rollout, *record);
    return Resume::Scale{.rollout = ask.rollout, .revision = record->concept_, .replicas = wanted.newReplicas};
  }
  state.put(ask.rollout, *record);
  return Resume::Ok{.rollout = ask.rollout, .step = record->step, .currentWeight = record->weightBps};
}

Abort::Result Rollout::abort(const Abort& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record) return Abort::NotFound{.rollout = ask.rollout, .message = no_such(ask.rollout)};
  const std::string reason = ask.reason.value_or("aborted by hand");
  switch (record->status) {
    case RolloutStatus::queued:
    case RolloutStatus::due:
      end(state, ask.rollout, RolloutStatus::aborted, reason);
      release(state, record->deployment);
      return Abort::Withdrawn{.rollout = ask.rollout, .reason = reason};
    case RolloutStatus::returning:
      return Abort::Returning{.rollout = ask.rollout, .message = "its traffic is on the way back: " + record->reason};
    case RolloutStatus::complete:
    case RolloutStatus::aborted:
    case RolloutStatus::superseded:
      return Abort::AlreadyComplete{.rollout = ask.rollout,
                                    .message = "it is " + std::string(name_of(record->status)) + " already"};
    case RolloutStatus::running:
    case RolloutStatus::paused:
    case RolloutStatus::watching:
    case RolloutStatus::stuck:
      break;
  }
  if (record->step == 0 || record->baseline.empty()) {
    end(state, ask.rollout, RolloutStatus::aborted, reason);
    release(state, record->deployment);
    return Abort::Withdrawn{.rollout = ask.rollout, .reason = reason};
  }
  record->status = RolloutStatus::returning;
  record->reason = reason;
  record->steppedAt = state.now();
  if (is_rolling(*record)) {
    if (record->scaling) {
      state.put(ask.rollout, *record);
      return Abort::Scaling{.rollout = ask.rollout, .message = std::string(kScaling)};
    }
    record->oldCap.reset();
    record->newCap.reset();
    const Replicas next = next_replicas(state, ask.rollout, *record);
    if (next.move == Replicas::Move::scale) {
      record->scaling = true;
      state.put(ask.rollout, *record);
      return Abort::Scale{.rollout = ask.rollout, .revision = next.revision, .replicas = next.count};
    }
  }
  Back back = go_back(state, ask.rollout, *record);
  state.put(ask.rollout, *record);
  return Abort::Ok{.rollout = ask.rollout,
                   .reason = reason,
                   .step = record->step,
                   .move = back.move,
                   .entries = std::move(back.entries)};
}

Recede::Result Rollout::recede(const Recede& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record || record->status != RolloutStatus::returning) return Recede::Stale{.rollout = ask.rollout};
  record->steppedAt = state.now();
  Back back = go_back(state, ask.rollout, *record);
  state.put(ask.rollout, *record);
  return Recede::Ok{
      .rollout = ask.rollout, .step = record->step, .move = back.move, .entries = std::move(back.entries)};
}

Returned::Result Rollout::returned(const Returned& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record || record->status != RolloutStatus::returning) return Returned::Stale{.rollout = ask.rollout};
  end(state, ask.rollout, RolloutStatus::aborted, record->reason);
  release(state, record->deployment);
  return Returned::Ok{.rollout = ask.rollout, .reason = record->reason};
}

Fail::Result Rollout::fail(const Fail& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record || !is_under_way(record->status)) return Fail::Stale{.rollout = ask.rollout};
  end(state, ask.rollout, RolloutStatus::stuck, ask.message);
  return Fail::Ok{.rollout = ask.rollout, .reason = ask.message};
}

Close::Result Rollout::close(const Close& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record || record->status != RolloutStatus::watching) return Close::Stale{.rollout = ask.rollout};
  const bool held_back = record->holdbackBps > 0;
  record->weightBps = kAllBasisPoints;
  record->status = RolloutStatus::complete;
  record->endedAt = state.now();
  state.put(ask.rollout, *record);
  if (!held_back) return Close::Closed{.rollout = ask.rollout};
  return Close::Ok{
      .rollout = ask.rollout, .step = record->step, .move = "close", .entries = entries_at(*record, kAllBasisPoints)};
}

NextBack::Result Rollout::next_back(const NextBack& ask, State& state) {
  auto record = state.get(ask.rollout);
  if (!record) return NextBack::Ok{.rollout = ask.rollout};
  std::vector<RolloutFound> left;
  for (const RolloutFound& each : state.find_by_group(record->group)) {
    const bool serves = each.record.status == RolloutStatus::watching;
    if (is_under_way(each.record.status) || serves) left.push_back(each);
  }
  // Whoever is not yet at turn must not go on meanwhile.
  for (const RolloutFound& each : left) {
    if (each.record.status != RolloutStatus::running) continue;
    state.edit(each.id, [&](RolloutRecord& other) {
      other.status = RolloutStatus::paused;
      other.reason = "its group " + record->group + " is taken back";
    });
  }
  std::erase_if(left, [](const RolloutFound& each) { return each.record.status == RolloutStatus::returning; });
  if (left.empty()) return NextBack::Ok{.rollout = ask.rollout};
  auto next = std::ranges::max_element(
      left, {}, [](const RolloutFound& each) { return std::pair(each.record.place, each.record.number); });
  return NextBack::Abort{.other = next->id, .reason = ask.reason};
}

}  // namespace sluice::deploy::rollout
