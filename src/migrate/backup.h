// Backups: a whole database as it was at one moment, in one file that nobody can read without its key. A backup counts
// only once it was restored into a scratch database and every table there has the rows that it had.
//
//   auto sums = back_up(*database, address, tools, file);
//
// SQLite is copied by its own backup API, PostgreSQL by pg_dump under an exported snapshot.
// docs/internals/migrations.md has the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"
#include "crypto/aead.h"
#include "migrate/database.h"
#include "migrate/scratch.h"

namespace sluice::migrate {

// A table of the application: how many rows it has, and one digest of all of them.
struct TableSum {
  std::string table;
  int64_t rows = 0;
  std::string digest;

  bool operator==(const TableSum&) const = default;
};
using Sums = std::vector<TableSum>;  // by table

Result<Sums> sums_of(Database& database);

struct BackupTools {
  Disk& disk;
  Random& random;
  const crypto::Aead& key;
  RunProgram run;
};

// Writes `file` and proves it. `address` is that of PostgreSQL. Without the right to make a scratch database it is
// `denied`. On failure there is no file.
Result<Sums> back_up(Database& database, const std::string& address, const BackupTools& tools, const std::string& file);

// Into a file, or a database on the same server, that is not there yet: `conflict` if it is.
Result<void> restore_sqlite(const BackupTools& tools, const std::string& file, const std::string& into);
Result<void> restore_postgres(const BackupTools& tools, const std::string& file, const std::string& address,
                              const std::string& into);

}  // namespace sluice::migrate
