// SyncSet::Memory: finds the matches that a new record completes.
//
// A record is put in last, after it was tried in every place that it fits, with the other places taken from what was
// there before. So every tuple of distinct records is found exactly once: when the last of them comes.
//
// Kept records are found by the hash of the values of the variables that are bound by then; what has that hash is then
// matched for good, so a collision costs a look and nothing else.
#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "engine/rules/compiled_set.h"
#include "engine/rules/sync_set.h"

namespace sluice::engine {

// ------------------------------------------------------------------------------------------------------- plans

JoinPlan plan_joins(const When& when) {
  JoinPlan plan;
  auto shared = [](const std::vector<size_t>& slots, const std::vector<size_t>& bound) {
    std::vector<size_t> both;
    std::ranges::set_intersection(slots, bound, std::back_inserter(both));
    return both;
  };
  auto merge = [](std::vector<size_t>& bound, const std::vector<size_t>& slots) {
    std::vector<size_t> all;
    std::ranges::set_union(bound, slots, std::back_inserter(all));
    bound = std::move(all);
  };
  std::vector<size_t> everything;
  for (size_t trigger = 0; trigger < when.groups.size(); ++trigger) {
    merge(everything, when.groups[trigger].slots);
    std::vector<size_t> bound = when.groups[trigger].slots, steps;
    std::vector<bool> done(when.groups.size());
    done[trigger] = true;
    for (size_t left = when.groups.size() - 1; left > 0; --left) {
      // The group that shares most with what is bound leaves the fewest records to look at.
      JoinPlan::Index best;
      bool any = false;
      for (size_t g = 0; g < when.groups.size(); ++g) {
        if (done[g]) continue;
        auto key = shared(when.groups[g].slots, bound);
        if (!any || key.size() > best.key.size()) best = {g, std::move(key)};
        any = true;
      }
      done[best.group] = true;
      merge(bound, when.groups[best.group].slots);
      auto known = std::ranges::find(plan.indexes, best);
      steps.push_back(static_cast<size_t>(known - plan.indexes.begin()));
      if (known == plan.indexes.end()) plan.indexes.push_back(std::move(best));
    }
    plan.steps.push_back(std::move(steps));
  }
  for (size_t position : when.latest) {
    plan.latest_keys.push_back(shared(when.patterns[position].slots, everything));
    merge(everything, when.patterns[position].slots);
  }
  return plan;
}

// ------------------------------------------------------------------------------------------------------ memory

namespace {

bool is_older(const RecordRef& a, const RecordRef& b) {
  return std::tuple(a->seq, id_of(*a)) < std::tuple(b->seq, id_of(*b));
}

size_t hash_of_key(const std::vector<size_t>& key, const Bindings& bindings) {
  size_t seed = key.size();
  for (size_t slot : key) seed = combine(seed, bindings[slot] ? hash_of(*bindings[slot]) : 0);
  return seed;
}

bool comes_before(const Match& a, const Match& b) {
  if (a.sync != b.sync) return a.sync < b.sync;  // numbers are in the order of the names
  auto id = [](const RecordRef& record) { return id_of(*record); };
  return std::ranges::lexicographical_compare(a.records, b.records, {}, id, id);
}

using Buckets = std::unordered_map<size_t, std::vector<RecordRef>>;

}  // namespace

class SyncSet::Memory::Joins {
 public:
  explicit Joins(std::shared_ptr<const CompiledSet> set) : set_(std::move(set)) {}

  std::vector<Match> add(const RecordRef& record) {
    std::vector<Match> matches;
    std::vector<std::pair<size_t, Attempt>> fitted;  // by group
    for (const CompiledSet::Place& place : set_->at(record->action).triggers) {
      if (!may_fit(place, *record)) continue;
      Attempt attempt(*set_, place.sync);
      if (!attempt.fits(place.number, record)) continue;
      join(attempt, place.number, 0, matches);
      if (attempt.is_joined()) fitted.emplace_back(place.number, std::move(attempt));
    }
    for (const auto& [group, attempt] : fitted) keep(attempt, group, record);
    keep_latest(record);
    std::ranges::sort(matches, comes_before);
    return matches;
  }

  void restore(const RecordRef& record) {
    for (const CompiledSet::Place& place : set_->at(record->action).triggers) {
      if (!may_fit(place, *record)) continue;
      Attempt attempt(*set_, place.sync);
      if (attempt.is_joined() && attempt.fits(place.number, record)) keep(attempt, place.number, record);
    }
    keep_latest(record);
  }

  size_t kept() const { return kept_; }

 private:
  struct Store {
    std::vector<Buckets> by_index;  // of JoinPlan::indexes
    std::vector<Buckets> latest;    // of When::latest; each bucket from old to new
  };

  // A match that is being put together.
  struct Attempt {
    Attempt(const CompiledSet& set, size_t number) : symbols(set.symbols()), sync(set.syncs[number]), number(number) {
      bindings.resize(sync.slots);
      records.resize(sync.when.patterns.size());
    }

    bool is_joined() const { return sync.when.groups.size() > 1; }
    bool fits(size_t group, const RecordRef& record) {
      return sync.when.fits(sync.when.groups[group], record, symbols, bindings, bound, records);
    }
    bool uses(const Record& record) const {
      return std::ranges::any_of(sync.when.groups, [&](const Group& group) {
        const RecordRef& used = records[group.plain];
        return used && id_of(*used) == id_of(record);
      });
    }

    const lang::Symbols& symbols;
    const CompiledSync& sync;
    size_t number;
    Bindings bindings;
    std::vector<size_t> bound;
    std::vector<RecordRef> records;
  };

  // Most patterns on an action are refused by its outcome or a literal, before anything is put together.
  bool may_fit(const CompiledSet::Place& place, const Record& record) const {
    const When& when = set_->syncs[place.sync].when;
    return when.patterns[when.groups[place.number].plain].may_fit(record, set_->symbols());
  }

  // Adds every match that fills the steps from this one on. Leaves the attempt of a join as it was.
  void join(Attempt& attempt, size_t trigger, size_t step, std::vector<Match>& matches) {
    const JoinPlan& plan = attempt.sync.plan;
    if (step == plan.steps[trigger].size()) {
      if (!find_latest(attempt)) return;
      if (attempt.is_joined()) {
        matches.push_back({attempt.number, attempt.records, attempt.bindings});
      } else {
        matches.push_back({attempt.number, std::move(attempt.records), std::move(attempt.bindings)});
      }
      return;
    }
    size_t number = plan.steps[trigger][step];
    const JoinPlan::Index& index = plan.indexes[number];
    const std::vector<RecordRef>* found = bucket(attempt, number, index.key);
    if (found == nullptr) return;
    const Group& group = attempt.sync.when.groups[index.group];
    for (const RecordRef& candidate : *found) {
      if (attempt.uses(*candidate)) continue;
      size_t before = attempt.bound.size();
      if (attempt.fits(index.group, candidate)) join(attempt, trigger, step + 1, matches);
      unbind(attempt.bindings, attempt.bound, before);
      attempt.records[group.plain] = nullptr;
    }
  }

  const std::vector<RecordRef>* bucket(const Attempt& attempt, size_t index, const std::vector<size_t>& key) const {
    auto store = stores_.find(attempt.number);
    if (store == stores_.end()) return nullptr;
    const Buckets& buckets = store->second.by_index[index];
    auto found = buckets.find(hash_of_key(key, attempt.bindings));
    return found == buckets.end() ? nullptr : &found->second;
  }

  // Fills the `latest` positions. What they bind is taken back with what the last group bound.
  bool find_latest(Attempt& attempt) {
    const When& when = attempt.sync.when;
    if (when.latest.empty()) return true;
    auto store = stores_.find(attempt.number);
    if (store == stores_.end()) return false;
    for (size_t l = 0; l < when.latest.size(); ++l) {
      const Buckets& buckets = store->second.latest[l];
      auto found = buckets.find(hash_of_key(attempt.sync.plan.latest_keys[l], attempt.bindings));
      if (found == buckets.end() || !take_newest(attempt, when.latest[l], found->second)) return false;
    }
    return true;
  }

  bool take_newest(Attempt& attempt, size_t position, const std::vector<RecordRef>& oldest_first) {
    for (auto each = oldest_first.rbegin(); each != oldest_first.rend(); ++each) {
      if (attempt.uses(**each)) continue;
      size_t before = attempt.bound.size();
      if (attempt.sync.when.patterns[position].fits(**each, attempt.symbols, attempt.bindings, attempt.bound)) {
        attempt.records[position] = *each;
        return true;
      }
      unbind(attempt.bindings, attempt.bound, before);
    }
    return false;
  }

  Store& store_of(size_t sync) {
    Store& store = stores_[sync];
    const CompiledSync& compiled = set_->syncs[sync];
    store.by_index.resize(compiled.plan.indexes.size());
    store.latest.resize(compiled.when.latest.size());
    return store;
  }

  // The attempt holds what the record alone binds in the group.
  void keep(const Attempt& attempt, size_t group, const RecordRef& record) {
    Store& store = store_of(attempt.number);
    const auto& indexes = attempt.sync.plan.indexes;
    for (size_t i = 0; i < indexes.size(); ++i) {
      if (indexes[i].group != group) continue;
      store.by_index[i][hash_of_key(indexes[i].key, attempt.bindings)].push_back(record);
    }
    ++kept_;
  }

  void keep_latest(const RecordRef& record) {
    for (const CompiledSet::Place& place : set_->at(record->action).latest) {
      Attempt attempt(*set_, place.sync);
      const CompiledPattern& pattern = attempt.sync.when.patterns[attempt.sync.when.latest[place.number]];
      if (!pattern.fits(*record, attempt.symbols, attempt.bindings, attempt.bound)) continue;
      Buckets& buckets = store_of(place.sync).latest[place.number];
      auto& records = buckets[hash_of_key(attempt.sync.plan.latest_keys[place.number], attempt.bindings)];
      records.insert(std::upper_bound(records.begin(), records.end(), record, is_older), record);
      ++kept_;
    }
  }

  std::shared_ptr<const CompiledSet> set_;
  std::unordered_map<size_t, Store> stores_;  // by sync; only of those that keep something
  size_t kept_ = 0;
};

SyncSet::Memory::Memory(std::shared_ptr<const CompiledSet> compiled)
    : joins_(std::make_unique<Joins>(std::move(compiled))) {}
SyncSet::Memory::~Memory() = default;

std::vector<Match> SyncSet::Memory::add(const RecordRef& record) { return joins_->add(record); }
void SyncSet::Memory::restore(const RecordRef& record) { joins_->restore(record); }
size_t SyncSet::Memory::kept() const { return joins_->kept(); }

}  // namespace sluice::engine
