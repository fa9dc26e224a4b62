// SqliteStore is the Store in one file: SQLite in WAL mode, each commit synced. It is the embedded default.
//
//   auto store = SqliteStore::open(disk, "/var/lib/sluice/store.db");
//
// Beside the file stand its log (-wal) and a lock (.lock) that keeps other processes out; all three are Sluice's
// alone: a copy is made with back_up, never of the files while they are in use.
//
// Commits and snapshots use connections of their own and do not wait for each other. The log is copied into the file
// by a thread of its own (a checkpoint). A snapshot that is held for long keeps the log from being used anew.
#pragma once

#include <memory>
#include <string>

#include "base/disk.h"
#include "store/sqlite_schema.h"
#include "store/sqlite_vfs.h"
#include "store/store.h"
#include "store/store_format.h"

namespace sluice::store {

struct SqliteOptions {
  bool checkpoint_in_background = true;  // false: only checkpoint() makes one
  uint64_t checkpoint_pages = 2000;      // length of the log that calls for one; pages have 4 kB
  Schema schema = current_schema();      // other ones are for tests
  OlderFormat older = OlderFormat::refused;
};

class SqliteStore final : public Store, public StoreFormat {
 public:
  // Makes the store if there is none. Fails, having changed nothing, with `conflict` if another process has it open,
  // and with `invalid` if the file is not a store, is damaged, was written by a newer Sluice, or has an older format
  // that the options do not ask for. Files up to 16 MB are checked whole, larger ones as they are read.
  static Result<std::unique_ptr<SqliteStore>> open(Disk& disk, const std::string& path, SqliteOptions options = {});
  ~SqliteStore() override;

  Result<void> commit(const Batch& batch) override;
  Result<std::unique_ptr<Snapshot>> read() override;
  Result<void> pack(const std::vector<PackedFlow>& flows) override;
  Result<void> forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) override;
  Result<void> back_up(const std::string& path) override;
  std::optional<Error> broken() const override;

  int format() const override;
  int newest_format() const override;
  Result<void> upgrade(const UpgradeNote& note) override;
  Result<std::optional<UpgradeNote>> last_upgrade() override;

  // Copies the log into the file as far as snapshots allow.
  Result<void> checkpoint();
  // Operations on the disk since the store was opened.
  VfsCounts counts() const;

 private:
  struct State;
  explicit SqliteStore(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace sluice::store
