// Committed state as handlers read it from outside the writer: queries, and effects that look at views. One moment for
// as long as it lives; nothing can be written.
#pragma once

#include <memory>

#include "engine/transaction.h"
#include "lang/run/handler.h"
#include "lang/run/rows.h"
#include "store/store.h"

namespace sluice::engine {

class CommittedRows final : public lang::Rows, public lang::Snapshot {
 public:
  // A failing store throws UnreadableStore, which ends the handler that reads.
  CommittedRows(std::unique_ptr<store::Snapshot> snapshot, store::BlobStore* blobs,
                std::shared_ptr<const IndexedFields> indexed, int64_t now_ms);

  uint64_t position() const { return snapshot_->position(); }
  // The same moment as the store has it, with flows and journal.
  store::Snapshot& snapshot() const { return *snapshot_; }
  const lang::Rows& rows_of(std::string_view) const override { return *this; }

  std::optional<json::value> get(std::string_view relation, std::string_view key) const override;
  void put(std::string_view relation, std::string_view key, json::value value) override;
  bool erase(std::string_view relation, std::string_view key) override;
  std::vector<lang::Row> scan(std::string_view relation, std::string_view prefix, std::string_view after,
                              size_t limit) const override;
  std::optional<lang::Row> last(std::string_view relation, std::string_view prefix) const override;
  std::vector<lang::Row> find(std::string_view relation, std::string_view field,
                              const json::value& value) const override;
  std::string new_id() override;
  lang::DateTime now() const override { return {now_ms_}; }
  lang::Request request() const override { return {}; }

 private:
  json::value value_of(const store::StateRow& row) const;

  std::unique_ptr<store::Snapshot> snapshot_;
  store::BlobStore* blobs_;
  std::shared_ptr<const IndexedFields> indexed_;
  int64_t now_ms_;
};

}  // namespace sluice::engine
