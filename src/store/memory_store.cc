// Tables are ordered maps, copied when a snapshot still looks at them.
#include "store/memory_store.h"

#include <map>
#include <set>
#include <tuple>

#include "store/batch_faults.h"

namespace sluice::store {

struct MemoryStore::Tables {
  std::map<uint64_t, JournalRow> journal;
  std::map<std::string, std::map<std::string, StateRow>, std::less<>> state;                   // rel, key
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> lookups;  // rel, field, value
  std::map<Ulid, FlowRow> flows;
  std::map<Ulid, std::string> packed;
  std::map<Ulid, TimerRow> timers;  // by invocation
  std::map<std::pair<std::string, std::string>, KeyRow> keys;
  std::map<std::string, std::string, std::less<>> sync_sets;
  std::map<std::string, std::string, std::less<>> meta;

  uint64_t position() const { return journal.empty() ? 0 : journal.rbegin()->first; }

  std::optional<FlowRow> flow(const Ulid& id) const {
    auto found = flows.find(id);
    return found == flows.end() ? std::nullopt : std::optional(found->second);
  }

  bool needs(const std::string& sync_set) const {
    for (const auto& [id, flow] : flows) {
      if (is_open(flow.status) && flow.sync_set == sync_set) return true;
    }
    return false;
  }
};

namespace {

template <typename Map, typename Key>
std::optional<typename Map::mapped_type> find(const Map& map, const Key& key) {
  auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

class MemoryStore::MemorySnapshot final : public Snapshot {
 public:
  MemorySnapshot(std::mutex& mutex, std::shared_ptr<const Tables> tables) : mutex_(mutex), tables_(std::move(tables)) {}

  // Under the mutex, so that a commit that finds the tables unshared may write to them.
  ~MemorySnapshot() override {
    std::lock_guard guard(mutex_);
    tables_.reset();
  }

  uint64_t position() const override { return tables_->position(); }

  Result<std::optional<StateRow>> get(std::string_view rel, std::string_view key) override {
    auto rows = tables_->state.find(rel);
    if (rows == tables_->state.end()) return std::optional<StateRow>();
    return find(rows->second, std::string(key));
  }

  Result<void> scan(std::string_view rel, std::string_view prefix, const Visit<StateRow>& visit) override {
    auto rows = tables_->state.find(rel);
    if (rows == tables_->state.end()) return {};
    for (auto at = rows->second.lower_bound(std::string(prefix)); at != rows->second.end(); ++at) {
      if (!at->first.starts_with(prefix) || !visit(at->second)) break;
    }
    return {};
  }

  Result<void> relations(const Visit<std::string>& visit) override {
    for (const auto& [rel, rows] : tables_->state) {
      if (!rows.empty() && !visit(rel)) break;
    }
    return {};
  }

  Result<void> lookup(std::string_view rel, std::string_view field, std::string_view value,
                      const Visit<std::string>& visit) override {
    auto keys = tables_->lookups.find({std::string(rel), std::string(field), std::string(value)});
    if (keys == tables_->lookups.end()) return {};
    for (const std::string& key : keys->second) {
      if (!visit(key)) break;
    }
    return {};
  }

  Result<std::optional<JournalRow>> journal(uint64_t seq) override { return find(tables_->journal, seq); }

  Result<void> journal_from(uint64_t seq, const Visit<JournalRow>& visit) override {
    for (auto at = tables_->journal.lower_bound(seq); at != tables_->journal.end(); ++at) {
      if (!visit(at->second)) break;
    }
    return {};
  }

  Result<std::optional<FlowRow>> flow(const Ulid& id) override { return tables_->flow(id); }

  Result<void> open_flows(const Visit<FlowRow>& visit) override {
    for (const auto& [id, flow] : tables_->flows) {
      if (is_open(flow.status) && !visit(flow)) break;
    }
    return {};
  }

  Result<void> flows_newest_first(std::optional<Ulid> before, const Visit<FlowRow>& visit) override {
    auto at = before ? tables_->flows.lower_bound(*before) : tables_->flows.end();
    while (at != tables_->flows.begin() && visit((--at)->second)) {
    }
    return {};
  }

  Result<void> flows_oldest_first(std::optional<Ulid> after, const Visit<FlowRow>& visit) override {
    auto at = after ? tables_->flows.upper_bound(*after) : tables_->flows.begin();
    while (at != tables_->flows.end() && visit((at++)->second)) {
    }
    return {};
  }

  Result<std::optional<std::string>> packed(const Ulid& flow) override { return find(tables_->packed, flow); }

  Result<void> timers(const Visit<TimerRow>& visit) override {
    std::map<std::pair<int64_t, Ulid>, const TimerRow*> by_due;
    for (const auto& [invocation, timer] : tables_->timers) by_due[{timer.due_ms, invocation}] = &timer;
    for (const auto& [due, timer] : by_due) {
      if (!visit(*timer)) break;
    }
    return {};
  }

  Result<std::optional<KeyRow>> key(std::string_view caller, std::string_view key) override {
    return find(tables_->keys, std::pair(std::string(caller), std::string(key)));
  }

  Result<std::optional<std::string>> sync_set(std::string_view hash) override { return find(tables_->sync_sets, hash); }
  Result<void> sync_sets(const Visit<std::string>& visit) override {
    for (const auto& [hash, content] : tables_->sync_sets) {
      if (!visit(hash)) break;
    }
    return {};
  }
  Result<std::optional<std::string>> meta(std::string_view name) override { return find(tables_->meta, name); }

  Result<void> lookups(const Visit<LookupRow>& visit) override {
    for (const auto& [where, keys] : tables_->lookups) {
      for (const std::string& key : keys) {
        if (!visit({std::get<0>(where), std::get<1>(where), std::get<2>(where), key})) return {};
      }
    }
    return {};
  }
  Result<void> keys(const Visit<KeyRow>& visit) override {
    for (const auto& [unused, row] : tables_->keys) {
      if (!visit(row)) break;
    }
    return {};
  }
  Result<void> metas(const Visit<std::pair<std::string, std::string>>& visit) override {
    for (const auto& [name, value] : tables_->meta) {
      if (!visit({name, value})) break;
    }
    return {};
  }

 private:
  std::mutex& mutex_;
  std::shared_ptr<const Tables> tables_;
};

MemoryStore::MemoryStore() : tables_(std::make_shared<Tables>()) {}
MemoryStore::~MemoryStore() = default;

MemoryStore::Tables& MemoryStore::writable() {
  if (tables_.use_count() > 1) tables_ = std::make_shared<Tables>(*tables_);
  return *tables_;
}

Result<void> MemoryStore::commit(const Batch& batch) {
  std::lock_guard guard(mutex_);
  if (auto follows = check_follows(batch.journal, tables_->position()); !follows) return follows;
  Tables& tables = writable();
  for (const JournalRow& row : batch.journal) {
    JournalRow& kept = tables.journal[row.seq] = row;
    if (!row.record.empty()) kept.packed_hash.clear();
  }
  for (const StateChange& change : batch.state) {
    if (change.value) {
      tables.state[change.rel][change.key] = {.rel = change.rel,
                                              .key = change.key,
                                              .generation = change.generation,
                                              .seq = change.seq,
                                              .value = *change.value};
    } else {
      tables.state[change.rel].erase(change.key);
    }
  }
  for (const LookupChange& change : batch.lookups) {
    auto& keys = tables.lookups[{change.rel, change.field, change.value}];
    if (change.present) {
      keys.insert(change.key);
    } else {
      keys.erase(change.key);
    }
  }
  for (const FlowRow& flow : batch.flows) {
    FlowRow& row = tables.flows[flow.id];
    bool packed = row.packed;
    row = flow;
    row.packed = packed;
  }
  for (const FlowHead& flow : batch.heads) {
    if (auto row = tables.flows.find(flow.id); row != tables.flows.end()) row->second.head = flow.head;
  }
  for (const TimerRow& timer : batch.timers) tables.timers[timer.invocation] = timer;
  for (const Ulid& invocation : batch.timers_done) tables.timers.erase(invocation);
  for (const KeyRow& key : batch.keys) tables.keys[{key.caller, key.key}] = key;
  for (const auto& [hash, content] : batch.sync_sets) tables.sync_sets[hash] = content;
  for (const auto& [name, value] : batch.meta) tables.meta[name] = value;
  for (const auto& [flow, blob] : batch.packed) {
    if (auto row = tables.flows.find(flow); row != tables.flows.end()) row->second.packed = true;
    tables.packed[flow] = blob;
  }
  return {};
}

Result<std::unique_ptr<Snapshot>> MemoryStore::read() {
  std::lock_guard guard(mutex_);
  return std::unique_ptr<Snapshot>(std::make_unique<MemorySnapshot>(mutex_, tables_));
}

Result<void> MemoryStore::pack(const std::vector<PackedFlow>& flows) {
  std::lock_guard guard(mutex_);
  auto changed = std::make_shared<Tables>(*tables_);
  for (const PackedFlow& packed : flows) {
    auto flow = changed->flow(packed.flow);
    if (auto packable = check_packable(packed.flow, flow); !packable) return packable;
    HashCheck hashes(packed);
    for (uint64_t seq = flow->head; seq != 0;) {
      auto hash = hashes.take(seq);
      if (!hash) return hash.error();
      auto found = changed->journal.find(seq);
      if (found == changed->journal.end() || found->second.flow != packed.flow) return hashes.not_its_own(seq);
      JournalRow& row = found->second;
      row.record.clear();
      row.packed_hash = *hash;
      seq = row.prev;
    }
    if (auto all = hashes.finish(); !all) return all;
    changed->flows[packed.flow].packed = true;
    changed->packed[packed.flow] = packed.blob;
  }
  tables_ = std::move(changed);
  return {};
}

Result<void> MemoryStore::forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) {
  std::lock_guard guard(mutex_);
  Tables& tables = writable();
  std::erase_if(tables.keys, [&](const auto& entry) { return entry.second.expires_ms < keys_before_ms; });
  for (const std::string& hash : sync_sets) {
    if (!tables.needs(hash)) tables.sync_sets.erase(hash);
  }
  return {};
}

Result<void> MemoryStore::back_up(const std::string&) {
  return Error{.code = Code::unavailable, .message = "a store in memory has nothing to back up"};
}

}  // namespace sluice::store
