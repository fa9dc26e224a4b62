// SqliteVfs lets SQLite keep its files on a Disk, so that tests can stop it at every operation. It is registered under
// a name of its own for as long as it lives:
//
//   SqliteVfs vfs(disk);
//   sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs.name().c_str());
//
// One process uses a database at a time; its owner sees to that with a lock of its own. Within the process any number
// of connections share it: locks and the WAL index ("shm") are kept in this object's memory and never on the disk, so
// all connections to a database must go through the same SqliteVfs. It must outlive them.
//
// A failed sync breaks it for good: nobody can know what is on the disk then, so every later operation fails too and
// broken() says what happened. A full disk (`limit`) is SQLITE_FULL, and passes when there is room.
//
// What SQLite writes to its log is gathered and reaches the disk with the next sync; so connections keep synchronous =
// full, with which SQLite shows others nothing that is not synced. Temporary files are refused: connections set
// temp_store = memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/disk.h"

namespace sluice::store {

struct VfsCounts {
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t syncs = 0;  // of files; those of folders are not counted
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
};

class SqliteVfs {
 public:
  explicit SqliteVfs(Disk& disk);
  ~SqliteVfs();
  SqliteVfs(const SqliteVfs&) = delete;
  SqliteVfs& operator=(const SqliteVfs&) = delete;

  const std::string& name() const;
  VfsCounts counts() const;

  // The failed sync that broke it.
  std::optional<Error> broken() const;
  // What the disk said the last time that an operation failed: the words behind SQLite's "disk I/O error".
  std::optional<Error> last_fault() const;

 private:
  struct State;
  class Calls;

  std::unique_ptr<State> state_;
};

}  // namespace sluice::store
