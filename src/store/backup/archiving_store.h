// ArchivingStore keeps each batch for the archive in the same transaction that commits it, in a ring of rows, so that
// no crash between the commit and the archive loses one. Until begin() it is the store below and nothing else; a store
// that was archived before goes on with resume().
//
//   ArchivingStore store(std::move(below), clock);
//   store.resume();
//   store.begin("01J…", 17);                     // of this line 17 batches are archived
//   auto batches = store.take(1000, 4 << 20);    // waits for some
//   … written …
//   store.archived(batches.back().number);
//
// If the archive falls so far behind that the ring is full, the store goes on and says overrun(): then a new backup is
// needed, behind which the archive begins anew.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "store/backup/backup.h"
#include "store/store.h"

namespace sluice::store {

class ArchivingStore final : public Store {
 public:
  // The clock must outlive it.
  ArchivingStore(std::unique_ptr<Store> below, const Clock& clock) : below_(std::move(below)), clock_(clock) {}

  struct Archived {
    uint64_t number = 0;
    int64_t at_ms = 0;
    uint64_t position = 0;
    std::string frame;
  };

  // Archives from the next batch on, and what is in the ring beyond `archived`. False: the ring does not go back so
  // far, and a backup is needed. The folder is kept beside the line.
  Result<bool> begin(const std::string& line, uint64_t archived, const std::string& folder = "");
  // Keeps what is committed from now on if somebody has begun to archive this store, in this process or before.
  Result<void> resume();
  // Nothing is archived any more; what follows begins another line.
  Result<void> end();
  // Those that are not archived yet, oldest first, up to so many bytes; waits until there is one or wake() is called,
  // at most so long.
  std::vector<Archived> take(int64_t patience_ms, size_t most_bytes);
  void wake();
  // When the oldest of them was committed; 0: there is none.
  int64_t waiting_since_ms();
  void archived(uint64_t number);
  bool overrun();

  Result<void> commit(const Batch& batch) override;
  Result<std::unique_ptr<Snapshot>> read() override { return below_->read(); }
  Result<void> pack(const std::vector<PackedFlow>& flows) override { return below_->pack(flows); }
  Result<void> forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) override {
    return below_->forget(keys_before_ms, sync_sets);
  }
  Result<void> back_up(const std::string& path) override { return below_->back_up(path); }
  std::optional<Error> broken() const override { return below_->broken(); }

 private:
  std::unique_ptr<Store> below_;
  const Clock& clock_;
  std::mutex committing_;  // numbers are given in the order of commits
  std::mutex mutex_;       // of all below
  std::condition_variable added_;
  bool on_ = false;
  bool overrun_ = false;
  bool woken_ = false;
  uint64_t newest_ = 0;
  uint64_t position_ = 0;
  std::deque<Archived> waiting_;
};

}  // namespace sluice::store
