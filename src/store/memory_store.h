// MemoryStore is a Store that forgets all when it ends: for tests and for runs that are only tried out. It keeps the
// same promises as the others while it lives, and cannot break or be backed up.
//
// A snapshot shares the rows with the store; the first commit after it copies them all, so hold many snapshots only
// of small stores.
#pragma once

#include <memory>
#include <mutex>

#include "store/store.h"

namespace sluice::store {

class MemoryStore final : public Store {
 public:
  MemoryStore();
  ~MemoryStore() override;

  Result<void> commit(const Batch& batch) override;
  Result<std::unique_ptr<Snapshot>> read() override;
  Result<void> pack(const std::vector<PackedFlow>& flows) override;
  Result<void> forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) override;
  Result<void> back_up(const std::string& path) override;  // always `unavailable`
  std::optional<Error> broken() const override { return std::nullopt; }

 private:
  struct Tables;
  class MemorySnapshot;

  Tables& writable();

  std::mutex mutex_;
  std::shared_ptr<Tables> tables_;
};

}  // namespace sluice::store
