// The store as one caller may see it: rows, flows and records that they may not see are not there. What reads a store
// or a snapshot for somebody reads it through this, so nothing that is added later can forget to look.
#pragma once

#include <memory>

#include "host/authority.h"
#include "store/store.h"

namespace sluice::host {

// Another snapshot under a life of its own, for those who want to own theirs. That one must outlive it.
class BorrowedSnapshot : public store::Snapshot {
 public:
  explicit BorrowedSnapshot(store::Snapshot& all) : all_(all) {}

  uint64_t position() const override { return all_.position(); }
  Result<std::optional<store::StateRow>> get(std::string_view rel, std::string_view key) override {
    return all_.get(rel, key);
  }
  Result<void> scan(std::string_view rel, std::string_view prefix,
                    const store::Visit<store::StateRow>& visit) override {
    return all_.scan(rel, prefix, visit);
  }
  Result<void> relations(const store::Visit<std::string>& visit) override { return all_.relations(visit); }
  Result<void> lookup(std::string_view rel, std::string_view field, std::string_view value,
                      const store::Visit<std::string>& visit) override {
    return all_.lookup(rel, field, value, visit);
  }
  Result<std::optional<store::JournalRow>> journal(uint64_t seq) override { return all_.journal(seq); }
  Result<void> journal_from(uint64_t seq, const store::Visit<store::JournalRow>& visit) override {
    return all_.journal_from(seq, visit);
  }
  Result<std::optional<store::FlowRow>> flow(const Ulid& id) override { return all_.flow(id); }
  Result<void> open_flows(const store::Visit<store::FlowRow>& visit) override { return all_.open_flows(visit); }
  Result<void> flows_newest_first(std::optional<Ulid> before, const store::Visit<store::FlowRow>& visit) override {
    return all_.flows_newest_first(before, visit);
  }
  Result<void> flows_oldest_first(std::optional<Ulid> after, const store::Visit<store::FlowRow>& visit) override {
    return all_.flows_oldest_first(after, visit);
  }
  Result<std::optional<std::string>> packed(const Ulid& flow) override { return all_.packed(flow); }
  Result<void> timers(const store::Visit<store::TimerRow>& visit) override { return all_.timers(visit); }
  Result<std::optional<store::KeyRow>> key(std::string_view caller, std::string_view key) override {
    return all_.key(caller, key);
  }
  Result<std::optional<std::string>> sync_set(std::string_view hash) override { return all_.sync_set(hash); }
  Result<void> sync_sets(const store::Visit<std::string>& visit) override { return all_.sync_sets(visit); }
  Result<std::optional<std::string>> meta(std::string_view name) override { return all_.meta(name); }

 protected:
  store::Snapshot& all_;
};

// Only for reading: whatever would write is denied.
class VisibleStore final : public store::Store {
 public:
  // Both must outlive it.
  VisibleStore(store::Store& all, const Authority& authority, engine::Caller who)
      : all_(all), authority_(authority), who_(std::move(who)) {}

  Result<void> commit(const store::Batch& batch) override;
  Result<std::unique_ptr<store::Snapshot>> read() override;
  Result<void> pack(const std::vector<store::PackedFlow>& flows) override;
  Result<void> forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) override;
  Result<void> back_up(const std::string& path) override;
  std::optional<Error> broken() const override { return all_.broken(); }

  // Whether a record of the journal is there for them. What they may see is looked up again once a second.
  bool sees(const store::JournalRow& row);

 private:
  Error denied() const;

  store::Store& all_;
  const Authority& authority_;
  engine::Caller who_;
  std::unique_ptr<Sight> sight_;  // of `sees`
  int64_t sight_ns_ = 0;
};

}  // namespace sluice::host
