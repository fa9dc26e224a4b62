// Traffic keeps the split of each deployment, those before it, and those that a rollback has left ahead of it. Whether
// a revision may get anything is not known here: guards look at every entry that is written, so each change writes all
// of them, also those that stay as they are.
#include <algorithm>
#include <set>

#include "base/basis_points.h"
#include "traffic.gen.h"

namespace sluice::deploy::traffic {
namespace {

constexpr size_t kMaxEntries = 100;
constexpr size_t kHistoryKept = 50;

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
  if (steps < 1) return "one step at least";
  if (static_cast<uint64_t>(steps) <= there) return "";
  return (there == 1 ? "there is 1 split " : "there are " + std::to_string(there) + " splits ") + where +
         " this one, not " + std::to_string(steps);
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

void write(State& state, const TrafficId& id, TrafficRecord& record, const std::vector<TrafficEntry>& entries,
           const std::optional<std::string>& caller, const std::optional<std::string>& key) {
  record.generation++;
  record.updatedAt = state.now();
  record.updatedBy = caller.value_or("");
  record.idempotencyKey = key.value_or("");
  record.authorization = state.request().text();
  state.put(id, record);
  std::vector<int64_t> before;
  for (const auto& each : state.entries(id)) before.push_back(each.number);
  for (const TrafficEntry& each : entries) state.entries(id).push(each);
  for (int64_t number : before) state.entries(id).erase(number);
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
  auto found = state.get(ask.deployment);
  TrafficRecord record = found.value_or(TrafficRecord{});
  if (found) state.past(ask.deployment).push(step_of<TrafficPastItem>(state, ask.deployment, record));
  keep_newest(state.past(ask.deployment));
  state.future(ask.deployment).clear();
  write(state, ask.deployment, record, ask.entries, ask.caller, ask.callerKey);
  return Set::Ok{.deployment = ask.deployment, .generation = record.generation, .entries = ask.entries};
}

Rollback::Result Traffic::rollback(const Rollback& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record) return Rollback::NotFound{.deployment = ask.deployment};
  auto past = state.past(ask.deployment).values();
  if (std::string fault = fault_of_steps(ask.steps, past.size(), "before"); !fault.empty()) {
    return Rollback::NoPast{.deployment = ask.deployment, .message = fault};
  }
  state.future(ask.deployment).push(step_of<TrafficFutureItem>(state, ask.deployment, *record));
  for (int64_t i = 1; i < ask.steps; ++i) {
    const TrafficPastItem& over = past.back();
    state.future(ask.deployment)
        .push({over.generation, over.entries, over.updatedAt, over.updatedBy, over.authorization});
    past.pop_back();
  }
  const std::vector<TrafficEntry> entries = past.back().entries;
  past.pop_back();
  state.past(ask.deployment).assign(past);
  write(state, ask.deployment, *record, entries, ask.caller, ask.callerKey);
  return Rollback::Ok{.deployment = ask.deployment, .generation = record->generation, .entries = entries};
}

Forward::Result Traffic::forward(const Forward& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record) return Forward::NotFound{.deployment = ask.deployment};
  auto future = state.future(ask.deployment).values();
  if (std::string fault = fault_of_steps(ask.steps, future.size(), "after"); !fault.empty()) {
    return Forward::NoFuture{.deployment = ask.deployment, .message = fault};
  }
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
  write(state, ask.deployment, *record, entries, ask.caller, ask.callerKey);
  return Forward::Ok{.deployment = ask.deployment, .generation = record->generation, .entries = entries};
}

Clear::Result Traffic::clear(const Clear& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record || state.entries(ask.deployment).empty()) {
    return Clear::NoSplit{.deployment = ask.deployment, .message = ask.deployment.text() + " has no split"};
  }
  state.past(ask.deployment).push(step_of<TrafficPastItem>(state, ask.deployment, *record));
  keep_newest(state.past(ask.deployment));
  state.future(ask.deployment).clear();
  write(state, ask.deployment, *record, {}, ask.caller, ask.callerKey);
  return Clear::Ok{.deployment = ask.deployment, .generation = record->generation};
}

Drop::Result Traffic::drop(const Drop& ask, State& state) {
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
    });
  }
  return Drop::Ok{.deployment = ask.deployment};
}

Forget::Result Traffic::forget(const Forget& ask, State& state) {
  state.entries(ask.deployment).clear();
  state.past(ask.deployment).clear();
  state.future(ask.deployment).clear();
  state.erase(ask.deployment);
  return Forget::Ok{.deployment = ask.deployment};
}

}  // namespace sluice::deploy::traffic
