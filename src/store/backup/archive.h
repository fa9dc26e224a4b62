// Archive writes what an ArchivingStore commits behind the newest backup, as segments, on a thread of its own: at most
// a second behind. Where there is no backup that the segments could go on from, it makes one first.
//
//   Archive archive({store, disk, …}, {.folder = "/var/backups/sluice", .recipient = "slr_…"});
//   archive.status().position          // up to which everything can be restored
//
// It ends with what waits written, as far as that goes at once. What fails is tried again every second.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/disk.h"
#include "base/random.h"
#include "crypto/ed25519.h"
#include "store/backup/archiving_store.h"
#include "store/backup/home_files.h"

namespace sluice::store {

// All must outlive it.
struct ArchiveParts {
  ArchivingStore& store;
  Disk& disk;
  const Clock& clock;
  Random& random;
  std::string home;
  const crypto::PrivateKey& signer;
  int64_t token = 0;
};

struct ArchiveOrder {
  std::string folder;
  std::string recipient;

  bool operator==(const ArchiveOrder&) const = default;
};

struct ArchiveStatus {
  uint64_t position = 0;  // up to which it is archived
  int64_t at_ms = 0;      // when that was committed
  std::string trouble;    // why it does not go on; empty: it does
  uint64_t made = 0;      // backups that it has made by itself
};

class Archive {
 public:
  Archive(ArchiveParts parts, ArchiveOrder order);
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  ArchiveStatus status() const;
  const ArchiveOrder& order() const { return order_; }

 private:
  void run();
  Result<void> prepare();
  Error lost() const;
  Result<void> write(const std::vector<ArchivingStore::Archived>& batches);
  BackupMaker maker() const { return {parts_.disk, parts_.random, parts_.home, parts_.signer, order_.recipient}; }

  ArchiveParts parts_;
  const ArchiveOrder order_;
  std::string line_;
  FileMarks known_;  // as the archive has them
  uint64_t position_before_ = 0;
  bool ready_ = false;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;
  ArchiveStatus status_;
  std::thread thread_;
};

}  // namespace sluice::store
