// Database is the seam to a database that is migrated: SQLite 3, or PostgreSQL through libpq, which is loaded when it
// is needed. One connection, for one thread; values are text, as the database prints them.
//
//   auto database = open_postgres(address);
//   auto rows = (*database)->query("SELECT name FROM users WHERE id = $1", {"7"});
//
// Parameters are $1, $2, … in both. An Error's code says what a caller can do: `conflict` a lock that others hold
// (try again later), `unavailable` the connection is lost, `limit` the disk is full, `denied` the right is missing,
// `failed` the database refuses the statement or the data. No message holds a password.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice::migrate {

enum class Engine { sqlite, postgres };

using Value = std::optional<std::string>;  // none is NULL
using Row = std::vector<Value>;
using Rows = std::vector<Row>;

class Database {
 public:
  virtual ~Database() = default;

  virtual Engine engine() const = 0;
  virtual Result<Rows> query(const std::string& sql, const Row& given = {}) = 0;
  // Row by row, of a table that need not fit into memory.
  virtual Result<void> each_row(const std::string& sql, const std::function<void(const Row&)>& seen);
  // How many rows the last statement changed.
  virtual int64_t changed() const = 0;

  // For its effect.
  Result<void> run(const std::string& sql, const Row& given = {});
  // The first value of the first row; none if there is no row.
  Result<Value> value(const std::string& sql, const Row& given = {});
};

// A file that is there, unless it may be created; if not `follow`, by a path without symbolic links.
Result<std::unique_ptr<Database>> open_sqlite(const std::string& path, bool create = false, bool follow = true);
// An address as libpq reads it: a URI, or "host=… dbname=…".
Result<std::unique_ptr<Database>> open_postgres(const std::string& address);

// Every page of a SQLite database, as it is at one moment, into a file that is not there. The application reads
// meanwhile, and writes as soon as the pages are read.
Result<void> copy_sqlite(Database& from, const std::string& into);

// The same server and user, another database.
Result<std::string> address_of_database(const std::string& address, const std::string& name);
// What PostgreSQL's own programs read instead of an address: no password is among their arguments.
Result<std::map<std::string, std::string>> environment_of(const std::string& address);

// A transaction that is rolled back unless it was committed.
class Transaction {
 public:
  // On SQLite it takes the lock for writing at once.
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;
};

}  // namespace sluice::migrate
