// Replays the flow to learn which syncs fired, then, for each that did not, walks its patterns as they are written.
#include "engine/rules/near_miss.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/rules/compiled_set.h"

namespace sluice::engine {
namespace {

using Link = lang::Pattern::Link;

// A flow with many records that agree in part could make the walk long; what it has found by then is near enough.
constexpr size_t kMaxLooks = 200'000;

class PatternWalk {
 public:
  PatternWalk(const CompiledSet& set, const CompiledSync& sync, const std::vector<RecordRef>& records)
      : symbols_(set.symbols()), when_(sync.when), candidates_(sync.when.patterns.size()) {
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (when_.patterns[i].link == Link::caused_by) continue;
      for (const RecordRef& record : records) {
        Bindings alone(sync.slots);
        std::vector<size_t> bound;
        if (when_.patterns[i].fits(*record, symbols_, alone, bound)) candidates_[i].push_back(record);
      }
    }
    bindings_.resize(sync.slots);
    records_.resize(candidates_.size());
  }

  bool is_near() const {
    return std::ranges::any_of(when_.groups, [&](const Group& group) { return !candidates_[group.plain].empty(); });
  }

  const std::string& missing() {
    step(0);
    // All patterns agree now, but a `latest` did not when the others were there.
    if (deepest_ == when_.patterns.size()) deepest_ = when_.latest.empty() ? deepest_ - 1 : when_.latest[0];
    return when_.patterns[deepest_].text;
  }

 private:
  // Tries the pattern at this position; `above` is the record of the plain pattern that a `caused by` speaks of.
  void step(size_t position, const RecordRef& above = nullptr) {
    deepest_ = std::max(deepest_, position);
    if (position == when_.patterns.size()) return;
    const CompiledPattern& pattern = when_.patterns[position];
    if (pattern.link == Link::caused_by) {
      if (!above->causes || pattern.cause >= above->causes->size()) return;
      if (const RecordRef& cause = (*above->causes)[pattern.cause]) go_on(position, cause, above);
      return;
    }
    for (const RecordRef& record : candidates_[position]) {
      if (deepest_ == when_.patterns.size() || looks_ > kMaxLooks) return;
      if (is_used(*record, position)) continue;
      go_on(position, record, pattern.link == Link::plain ? record : above);
    }
  }

  void go_on(size_t position, const RecordRef& record, const RecordRef& above) {
    ++looks_;
    size_t before = bound_.size();
    records_[position] = record;
    if (when_.patterns[position].fits(*record, symbols_, bindings_, bound_)) step(position + 1, above);
    unbind(bindings_, bound_, before);
    records_[position] = nullptr;
  }

  bool is_used(const Record& record, size_t position) const {
    return std::ranges::any_of(when_.groups, [&](const Group& group) {
      return group.plain < position && records_[group.plain] && id_of(*records_[group.plain]) == id_of(record);
    });
  }

  const lang::Symbols& symbols_;
  const When& when_;
  std::vector<std::vector<RecordRef>> candidates_;  // by position: what fits a pattern alone
  Bindings bindings_;
  std::vector<size_t> bound_;
  std::vector<RecordRef> records_;
  size_t deepest_ = 0;
  size_t looks_ = 0;
};

struct Listener {
  size_t sync = 0;
  const Group* group = nullptr;
  const CompiledPattern* pattern = nullptr;  // the group's plain one
};

// The plain patterns that are about completions of an action.
std::vector<Listener> listeners_to(const CompiledSet& set, lang::ActionRef action) {
  std::vector<Listener> found;
  for (const CompiledSet::Place& place : set.at(action).triggers) {
    const When& when = set.syncs[place.sync].when;
    const Group& group = when.groups[place.number];
    const CompiledPattern& pattern = when.patterns[group.plain];
    if (pattern.record_class.outcome == lang::Pattern::Outcome::requested) continue;
    found.push_back({place.sync, &group, &pattern});
  }
  return found;
}

// Whether the completion, whatever its outcome will be, agrees with the pattern in all else.
bool may_end_as(const CompiledSet& set, const Listener& listener, const Record& open) {
  const CompiledSync& sync = set.syncs[listener.sync];
  const std::vector<size_t>& not_of = listener.pattern->not_of;
  if (std::ranges::find(not_of, open.action.concept_) != not_of.end()) return false;
  Bindings bindings(sync.slots);
  std::vector<size_t> bound;
  if (!fit_all(listener.pattern->input, open.input, bindings, bound)) return false;
  return std::ranges::all_of(listener.group->causes, [&](size_t position) {
    const CompiledPattern& pattern = sync.when.patterns[position];
    if (!open.causes || pattern.cause >= open.causes->size()) return false;
    const RecordRef& cause = (*open.causes)[pattern.cause];
    return cause && pattern.fits(*cause, set.symbols(), bindings, bound);
  });
}

}  // namespace

std::vector<NearMiss> near_misses(const SyncSet& set, std::vector<RecordRef> records,
                                  const std::vector<RecordId>& dead_ends) {
  std::ranges::sort(records, {}, [](const RecordRef& each) { return std::tuple(each->seq, id_of(*each)); });
  const CompiledSet& compiled = *set.compiled();
  std::vector<bool> fired(set.size());
  auto memory = set.new_memory();
  for (const RecordRef& record : records) {
    for (const Match& match : memory->add(record)) fired[match.sync] = true;
  }
  std::vector<bool> near(set.size());
  std::set<RecordId> ends(dead_ends.begin(), dead_ends.end());
  for (const RecordRef& record : records) {
    if (!ends.contains(id_of(*record))) continue;
    for (const Listener& each : listeners_to(compiled, record->action)) near[each.sync] = true;
  }
  std::vector<NearMiss> found;
  for (size_t s = 0; s < set.size(); ++s) {
    if (fired[s]) continue;
    PatternWalk walk(compiled, compiled.syncs[s], records);
    if (near[s] || walk.is_near()) found.push_back({set.name(s), walk.missing()});
  }
  return found;
}

std::vector<NearMiss> awaiting(const SyncSet& set, const Record& open) {
  const CompiledSet& compiled = *set.compiled();
  std::vector<NearMiss> found;
  for (const Listener& each : listeners_to(compiled, open.action)) {
    if (!may_end_as(compiled, each, open)) continue;
    NearMiss miss{set.name(each.sync), each.pattern->text};
    if (std::ranges::find(found, miss) == found.end()) found.push_back(std::move(miss));
  }
  return found;
}

std::vector<NearMiss> listeners(const SyncSet& set, lang::ActionRef action) {
  std::vector<NearMiss> found;
  for (const Listener& each : listeners_to(*set.compiled(), action)) {
    found.push_back({set.name(each.sync), each.pattern->text});
  }
  return found;
}

}  // namespace sluice::engine
