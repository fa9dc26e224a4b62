// Each read asks the Sight of its caller.
#include "host/visible_store.h"

namespace sluice::host {
namespace {

constexpr int64_t kSightLife_ns = 1'000'000'000;

class VisibleSnapshot final : public BorrowedSnapshot {
 public:
  VisibleSnapshot(std::unique_ptr<store::Snapshot> all, Sight sight)
      : BorrowedSnapshot(*all), kept_(std::move(all)), sight_(std::move(sight)) {}

  Result<std::optional<store::StateRow>> get(std::string_view rel, std::string_view key) override {
    if (!sight_.sees_row(all_, rel, key)) return std::optional<store::StateRow>();
    return all_.get(rel, key);
  }
  Result<void> scan(std::string_view rel, std::string_view prefix,
                    const store::Visit<store::StateRow>& visit) override {
    return all_.scan(rel, prefix,
                     [&](const store::StateRow& row) { return !sight_.sees_row(all_, rel, row.key) || visit(row); });
  }
  Result<void> lookup(std::string_view rel, std::string_view field, std::string_view value,
                      const store::Visit<std::string>& visit) override {
    return all_.lookup(rel, field, value,
                       [&](const std::string& key) { return !sight_.sees_row(all_, rel, key) || visit(key); });
  }
  Result<std::optional<store::JournalRow>> journal(uint64_t seq) override {
    auto row = all_.journal(seq);
    if (row && *row && !sight_.sees_step(all_, **row)) return std::optional<store::JournalRow>();
    return row;
  }
  Result<void> journal_from(uint64_t seq, const store::Visit<store::JournalRow>& visit) override {
    return all_.journal_from(seq,
                             [&](const store::JournalRow& row) { return !sight_.sees_step(all_, row) || visit(row); });
  }
  Result<std::optional<store::FlowRow>> flow(const Ulid& id) override {
    if (!sight_.sees_flow(all_, id)) return std::optional<store::FlowRow>();
    return all_.flow(id);
  }
  Result<void> open_flows(const store::Visit<store::FlowRow>& visit) override { return all_.open_flows(seen(visit)); }
  Result<void> flows_newest_first(std::optional<Ulid> before, const store::Visit<store::FlowRow>& visit) override {
    return all_.flows_newest_first(before, seen(visit));
  }
  Result<void> flows_oldest_first(std::optional<Ulid> after, const store::Visit<store::FlowRow>& visit) override {
    return all_.flows_oldest_first(after, seen(visit));
  }
  Result<std::optional<std::string>> packed(const Ulid& flow) override {
    if (!sight_.sees_flow(all_, flow)) return std::optional<std::string>();
    return all_.packed(flow);
  }
  Result<void> timers(const store::Visit<store::TimerRow>& visit) override {
    return all_.timers([&](const store::TimerRow& row) { return !sight_.sees_flow(all_, row.flow) || visit(row); });
  }
  // Keys are their callers' own, and nobody reads them from here.
  Result<std::optional<store::KeyRow>> key(std::string_view, std::string_view) override {
    return std::optional<store::KeyRow>();
  }

 private:
  store::Visit<store::FlowRow> seen(const store::Visit<store::FlowRow>& visit) {
    return [this, &visit](const store::FlowRow& row) { return !sight_.sees_flow(all_, row.id) || visit(row); };
  }

  std::unique_ptr<store::Snapshot> kept_;
  Sight sight_;
};

}  // namespace

Error VisibleStore::denied() const {
  return {.code = Code::denied, .message = who_.name + " may not write to the store"};
}

Result<std::unique_ptr<store::Snapshot>> VisibleStore::read() {
  auto all = all_.read();
  if (!all) return all;
  Sight sight(authority_, who_, **all);
  return std::unique_ptr<store::Snapshot>(std::make_unique<VisibleSnapshot>(*std::move(all), std::move(sight)));
}

bool VisibleStore::sees(const store::JournalRow& row) {
  auto all = all_.read();
  if (!all) return false;
  const int64_t now_ns = authority_.clock().monotonic_ns();
  if (!sight_ || now_ns - sight_ns_ > kSightLife_ns) {
    sight_ = std::make_unique<Sight>(authority_, who_, **all);
    sight_ns_ = now_ns;
  }
  return sight_->sees_step(**all, row);
}

Result<void> VisibleStore::commit(const store::Batch&) { return denied(); }
Result<void> VisibleStore::pack(const std::vector<store::PackedFlow>&) { return denied(); }
Result<void> VisibleStore::forget(int64_t, const std::vector<std::string>&) { return denied(); }
Result<void> VisibleStore::back_up(const std::string&) { return denied(); }

}  // namespace sluice::host
