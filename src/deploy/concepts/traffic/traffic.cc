// Traffic keeps the split of each deployment, those before it, and those that a rollback has left ahead of it; these
// are the ways back and forward. A rollout is one step there, however often it moves traffic. Besides it keeps a log of
// all splits that there were, to which is only added. Whether a revision may get anything is not known here: guards
// look at every entry that is written, so each change writes all of them, also those that stay as they are.
#include <algorithm>
#include <set>

#include "base/basis_points.h"
#include "deploy/invariant.h"
#include "traffic.gen.h"

namespace sluice::deploy::traffic {
namespace {

constexpr size_t kMaxEntries = 100;
constexpr size_t kHistoryKept = 50;
constexpr size_t kLogKept = 1'000;
constexpr size_t kServedKept = 10;

// Empty if these are a split: no duplicates, each from 0 to 10,000, together 10,000.
std::string fault_of(const std::vector<TrafficEntry>& entries) {
  if (entries.empty()) return "a split names one revision at least";
  if (entries.size() > kMaxEntries) return "a split names at most 100 revisions";
  std::set<std::string> named;
  int64_t sum = 0;
  for (const TrafficEntry& each : entries) {
    if (!named.insert(each.revision).second) return each.revision + " is named twice";
    if (each.weightBps < 0 || each.weightBps > kAllBasisPoints) {
      return each.revision + " cannot get " + std::to_string(each.weightBps) + " bps: a weight is 0 to 10000";
    }
    sum += each.weightBps;  // of a hundred weights at most
  }
  if (sum != kAllBasisPoints) return "the weights sum to " + std::to_string(sum) + " bps, not 10000";
  return "";
}

// Empty if so many steps can be gone of those that there are.
std::string fault_of_steps(int64_t steps, size_t there, const std::string& where) {
  if (steps < 1) return "expected one step or more";
  if (static_cast<uint64_t>(steps) <= there) return "";
  if (there == 0) return "there is nothing to go " + where + " to";
  return "the history goes " + where + " only " + std::to_string(there) + (there == 1 ? " step" : " steps") + ", not " +
         std::to_string(steps);
}

template <class Item>
Item step_of(const State& state, const TrafficId& id, const TrafficRecord& record) {
  return {.generation = record.generation,
          .entries = state.entries(id).values(),
          .updatedAt = record.updatedAt,
          .updatedBy = record.updatedBy,
          .authorization = record.authorization};
}

template <class Steps>
void keep_newest(Steps steps) {
  std::vector<int64_t> numbers;
  for (const auto& each : steps) numbers.push_back(each.number);
  for (size_t i = 0; i + kHistoryKept < numbers.size(); ++i) steps.erase(numbers[i]);
}

// A split that an earlier version wrote stands only among those before.
void begin_log(State& state, const TrafficId& id) {
  if (!state.log(id).empty()) return;
  auto add = [&](const auto& step) {
    state.log(id).push({.generation = step.generation,
                        .entries = step.entries,
                        .at = step.updatedAt,
                        .by = step.updatedBy,
                        .why = "",
                        .authorization = step.authorization});
  };
  for (const TrafficPastItem& each : state.past(id).values()) add(each);
  if (auto record = state.get(id)) add(step_of<TrafficPastItem>(state, id, *record));
}

void write_log(State& state, const TrafficId& id, const TrafficRecord& record, const std::string& by,
               const std::string& why) {
  state.log(id).push({.generation = record.generation,
                      .entries = state.entries(id).values(),
                      .at = state.now(),
                      .by = by,
                      .why = why,
                      .authorization = state.request().text()});
  std::vector<int64_t> numbers;
  for (const auto& each : state.log(id)) numbers.push_back(each.number);
  for (size_t i = 0; i + kLogKept < numbers.size(); ++i) state.log(id).erase(numbers[i]);
}

struct Change {
  std::string by;
  std::string key;
  std::string why;
  std::string rollout = {};  // whose move it is, if it is one
};

void write(State& state, const TrafficId& id, TrafficRecord& record, const std::vector<TrafficEntry>& entries,
           const Change& change) {
  int64_t sum_bps = 0;
  for (const TrafficEntry& each : entries) sum_bps += each.weightBps;
  must_hold(entries.empty() || sum_bps == kAllBasisPoints, "a split gives every request to a revision");
  begin_log(state, id);
  record.generation++;
  record.updatedAt = state.now();
  record.updatedBy = change.by;
  record.idempotencyKey = change.key;
  record.authorization = state.request().text();
  record.rollout = change.rollout;
  state.put(id, record);
  std::vector<int64_t> before;
  for (const auto& each : state.entries(id)) before.push_back(each.number);
  for (const TrafficEntry& each : entries) state.entries(id).push(each);
  for (int64_t number : before) state.entries(id).erase(number);
  write_log(state, id, record, record.updatedBy, change.why);
}

bool is_same_split(std::vector<TrafficEntry> one, std::vector<TrafficEntry> other) {
  for (auto* each : {&one, &other}) {
    std::erase_if(*each, [](const TrafficEntry& entry) { return entry.weightBps == 0; });
    std::ranges::sort(*each);
  }
  return one == other;
}

// Whether a rollout has left the split between two revisions. Nothing leads back to such a split.
bool is_on_the_way(const State& state, const TrafficId& id, const TrafficRecord& record) {
  return !record.rollout.empty() && std::ranges::count_if(state.entries(id).values(), [](const TrafficEntry& each) {
                                      return each.weightBps > 0;
                                    }) > 1;
}

// Makes this the split, and what it was the way back. Of a rollout only what was before it becomes the way back, and
// if the rollout returns there, that is no step any more.
TrafficRecord change_split(State& state, const TrafficId& id, const std::vector<TrafficEntry>& entries, Change change) {
  auto found = state.get(id);
  TrafficRecord record = found.value_or(TrafficRecord{});
  begin_log(state, id);
  const bool goes_on = !change.rollout.empty() && record.rollout == change.rollout;
  const bool on_the_way = is_on_the_way(state, id, record);
  if (found && !goes_on && !on_the_way) state.past(id).push(step_of<TrafficPastItem>(state, id, record));
  auto past = state.past(id).values();
  if ((on_the_way || !change.rollout.empty()) && !past.empty() && is_same_split(past.back().entries, entries)) {
    past.pop_back();
    state.past(id).assign(past);
    change.rollout.clear();
  }
  keep_newest(state.past(id));
  state.future(id).clear();
  write(state, id, record, entries, change);
  return record;
}

// Everything to the revision, or a share of it: then the others keep what is left in their proportion.
std::vector<TrafficEntry> shifted(const std::vector<TrafficEntry>& now, const std::string& revision,
                                  int64_t weight_bps) {
  std::vector<TrafficEntry> others;
  int64_t sum = 0;
  for (const TrafficEntry& each : now) {
    if (each.revision == revision || each.weightBps == 0) continue;
    others.push_back(each);
    sum += each.weightBps;
  }
  if (sum == 0 || weight_bps == kAllBasisPoints) return {{.revision = revision, .weightBps = kAllBasisPoints}};
  std::vector<TrafficEntry> wanted;
  if (weight_bps > 0) wanted.push_back({.revision = revision, .weightBps = weight_bps});
  const size_t first = wanted.size();
  int64_t left = kAllBasisPoints - weight_bps;
  for (const TrafficEntry& each : others) {
    wanted.push_back({.revision = each.revision, .weightBps = each.weightBps * (kAllBasisPoints - weight_bps) / sum});
    left -= wanted.back().weightBps;
  }
  wanted[first].weightBps += left;
  return wanted;
}

std::vector<TrafficBeforeItem> told_of(const std::vector<TrafficEntry>& entries) {
  std::vector<TrafficBeforeItem> told;
  for (const TrafficEntry& each : entries) told.push_back({.revision = each.revision, .weightBps = each.weightBps});
  return told;
}

void add_served(std::vector<std::string>& served, const std::vector<TrafficEntry>& entries) {
  for (const TrafficEntry& each : entries) {
    if (each.weightBps > 0 && std::ranges::find(served, each.revision) == served.end()) {
      served.push_back(each.revision);
    }
  }
}

// Who gets something, and who did before the last change.
std::vector<std::string> stays_of(const State& state, const TrafficId& id) {
  std::vector<std::string> stays;
  add_served(stays, state.entries(id).values());
  const auto past = state.past(id).values();
  if (!past.empty()) add_served(stays, past.back().entries);
  return stays;
}

// The last ones that got something, the newest first.
std::vector<std::string> kept_of(const State& state, const TrafficId& id) {
  std::vector<std::string> kept;
  add_served(kept, state.entries(id).values());
  auto log = state.log(id).values();
  for (auto each = log.rbegin(); each != log.rend() && kept.size() < kServedKept; ++each) {
    add_served(kept, each->entries);
  }
  if (log.empty()) {
    const auto past = state.past(id).values();
    for (auto each = past.rbegin(); each != past.rend(); ++each) add_served(kept, each->entries);
  }
  if (kept.size() > kServedKept) kept.resize(kServedKept);
  return kept;
}

bool is_idle_entry(const TrafficEntry& entry, const std::string& revision) {
  return entry.revision == revision && entry.weightBps == 0;
}

// A way back or forward is not to be lost for a revision that got nothing there.
template <class Steps>
void drop_from(Steps steps, const std::string& revision) {
  auto all = steps.values();
  bool changed = false;
  for (auto& each : all) {
    changed =
        std::erase_if(each.entries, [&](const auto& entry) { return is_idle_entry(entry, revision); }) > 0 || changed;
  }
  if (changed) steps.assign(all);
}

}  // namespace

Set::Result Traffic::set(const Set& ask, State& state) {
  if (std::string fault = fault_of(ask.entries); !fault.empty()) {
    return Set::InvalidSplit{.deployment = ask.deployment, .message = fault};
  }
  const TrafficRecord record =
      change_split(state, ask.deployment, ask.entries,
                   {.by = ask.caller.value_or(""), .key = ask.callerKey.value_or(""), .why = "set"});
  return Set::Ok{.deployment = ask.deployment, .generation = record.generation, .entries = ask.entries};
}

Move::Result Traffic::move(const Move& ask, State& state) {
  if (std::string fault = fault_of(ask.entries); !fault.empty()) {
    return Move::InvalidSplit{.deployment = ask.deployment, .message = fault};
  }
  const TrafficRecord record = change_split(state, ask.deployment, ask.entries,
                                            {.by = "rollout", .key = "", .why = ask.why, .rollout = ask.rollout});
  return Move::Ok{.deployment = ask.deployment, .generation = record.generation, .entries = ask.entries};
}

Shift::Result Traffic::shift(const Shift& ask, State& state) {
  if (ask.weightBps < 0 || ask.weightBps > kAllBasisPoints) {
    return Shift::InvalidSplit{.deployment = ask.deployment,
                               .message = ask.revision + " cannot get " + std::to_string(ask.weightBps) +
                                          " bps of a shift: a share is 0 to 10000"};
  }
  const auto now = state.entries(ask.deployment).values();
  const auto wanted = shifted(now, ask.revision, ask.weightBps);
  if (is_same_split(now, wanted)) {
    return Shift::Unchanged{.deployment = ask.deployment,
                            .entries = wanted,
                            .stays = stays_of(state, ask.deployment),
                            .kept = kept_of(state, ask.deployment),
                            .before = told_of(now)};
  }
  const TrafficRecord record =
      change_split(state, ask.deployment, wanted, {.by = ask.by.value_or(""), .key = "", .why = "shift"});
  return Shift::Ok{.deployment = ask.deployment,
                   .generation = record.generation,
                   .entries = wanted,
                   .stays = stays_of(state, ask.deployment),
                   .kept = kept_of(state, ask.deployment),
                   .before = told_of(now)};
}

Rollback::Result Traffic::rollback(const Rollback& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record) return Rollback::NotFound{.deployment = ask.deployment};
  auto past = state.past(ask.deployment).values();
  if (std::string fault = fault_of_steps(ask.steps, past.size(), "back"); !fault.empty()) {
    return Rollback::NoPast{.deployment = ask.deployment, .message = fault};
  }
  begin_log(state, ask.deployment);
  if (!is_on_the_way(state, ask.deployment, *record)) {
    state.future(ask.deployment).push(step_of<TrafficFutureItem>(state, ask.deployment, *record));
  }
  for (int64_t i = 1; i < ask.steps; ++i) {
    const TrafficPastItem& over = past.back();
    state.future(ask.deployment)
        .push({over.generation, over.entries, over.updatedAt, over.updatedBy, over.authorization});
    past.pop_back();
  }
  const std::vector<TrafficEntry> entries = past.back().entries;
  past.pop_back();
  state.past(ask.deployment).assign(past);
  write(state, ask.deployment, *record, entries,
        {.by = ask.caller.value_or(""),
         .key = ask.callerKey.value_or(""),
         .why = "rollback of " + std::to_string(ask.steps)});
  return Rollback::Ok{.deployment = ask.deployment, .generation = record->generation, .entries = entries};
}

FindBack::Result Traffic::find_back(const FindBack& ask, State& state) {
  const auto past = state.past(ask.deployment).values();
  if (std::string fault = fault_of_steps(ask.steps, past.size(), "back"); !fault.empty()) {
    return FindBack::NoPast{.deployment = ask.deployment, .message = fault};
  }
  FindBack::Ok ok{.deployment = ask.deployment};
  // Entries without weight must be ready as well: a split names only such revisions.
  for (const TrafficEntry& each : past[past.size() - static_cast<size_t>(ask.steps)].entries) {
    ok.revisions.push_back(each.revision);
  }
  return ok;
}

Named::Result Traffic::named(const Named& ask, State& state) {
  Named::Ok ok{.deployment = ask.deployment};
  for (const TrafficEntry& each : state.entries(ask.deployment).values()) ok.revisions.push_back(each.revision);
  return ok;
}

Look::Result Traffic::look(const Look& ask, State& state) {
  return Look::Ok{.deployment = ask.deployment,
                  .entries = state.entries(ask.deployment).values(),
                  .stays = stays_of(state, ask.deployment),
                  .kept = kept_of(state, ask.deployment)};
}

Forward::Result Traffic::forward(const Forward& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record) return Forward::NotFound{.deployment = ask.deployment};
  auto future = state.future(ask.deployment).values();
  if (std::string fault = fault_of_steps(ask.steps, future.size(), "forward"); !fault.empty()) {
    return Forward::NoFuture{.deployment = ask.deployment, .message = fault};
  }
  begin_log(state, ask.deployment);
  state.past(ask.deployment).push(step_of<TrafficPastItem>(state, ask.deployment, *record));
  for (int64_t i = 1; i < ask.steps; ++i) {
    const TrafficFutureItem& over = future.back();
    state.past(ask.deployment)
        .push({over.generation, over.entries, over.updatedAt, over.updatedBy, over.authorization});
    future.pop_back();
  }
  const std::vector<TrafficEntry> entries = future.back().entries;
  future.pop_back();
  state.future(ask.deployment).assign(future);
  keep_newest(state.past(ask.deployment));
  write(state, ask.deployment, *record, entries,
        {.by = ask.caller.value_or(""),
         .key = ask.callerKey.value_or(""),
         .why = "forward by " + std::to_string(ask.steps)});
  return Forward::Ok{.deployment = ask.deployment, .generation = record->generation, .entries = entries};
}

Clear::Result Traffic::clear(const Clear& ask, State& state) {
  if (state.entries(ask.deployment).empty()) {
    return Clear::NoSplit{.deployment = ask.deployment, .message = ask.deployment.text() + " has no split"};
  }
  const TrafficRecord cleared = change_split(
      state, ask.deployment, {}, {.by = ask.caller.value_or(""), .key = ask.callerKey.value_or(""), .why = "clear"});
  return Clear::Ok{.deployment = ask.deployment, .generation = cleared.generation};
}

Drop::Result Traffic::drop(const Drop& ask, State& state) {
  begin_log(state, ask.deployment);
  drop_from(state.past(ask.deployment), ask.revision);
  drop_from(state.future(ask.deployment), ask.revision);
  bool dropped = false;
  for (const auto& each : state.entries(ask.deployment)) {
    // What has weight is for people to take away: others must get it.
    if (!is_idle_entry(each.value, ask.revision)) continue;
    state.entries(ask.deployment).erase(each.number);
    dropped = true;
  }
  if (dropped) {
    state.edit(ask.deployment, [&](TrafficRecord& record) {
      record.generation++;
      record.updatedAt = state.now();
      write_log(state, ask.deployment, record, "", ask.revision + " can no longer serve");
    });
  }
  return Drop::Ok{.deployment = ask.deployment};
}

Forget::Result Traffic::forget(const Forget& ask, State& state) {
  state.entries(ask.deployment).clear();
  state.past(ask.deployment).clear();
  state.future(ask.deployment).clear();
  state.log(ask.deployment).clear();
  state.erase(ask.deployment);
  return Forget::Ok{.deployment = ask.deployment};
}

}  // namespace sluice::deploy::traffic
