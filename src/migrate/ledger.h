// What was done to a database, in the database itself: schema `sluice` in PostgreSQL, tables `_sluice_…` in SQLite.
// After a crash this is the truth, so whatever is done is written here in the transaction that does it.
//
// docs/internals/migrations.md has the tables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "migrate/database.h"
#include "migrate/files.h"
#include "migrate/schema.h"

namespace sluice::migrate {

// Who asks: the id of this Sluice and of its process, the person or program, and the flow that it is part of.
struct Caller {
  std::string sluice;
  std::string process;
  std::string who;
  std::string flow;
};

// From nothing to contracted; `undone` is as if it had never been.
inline constexpr std::string_view kPlanned = "planned";
inline constexpr std::string_view kExpanding = "expanding";
inline constexpr std::string_view kExpanded = "expanded";
inline constexpr std::string_view kMigrating = "migrating";
inline constexpr std::string_view kPartial = "partial";  // rows failed; the others are copied
inline constexpr std::string_view kMigrated = "migrated";
inline constexpr std::string_view kContracted = "contracted";
inline constexpr std::string_view kUndoing = "undoing";

struct Entry {
  int64_t number = 0;
  std::string name;
  std::string phase;
  std::map<std::string, std::string> files;
  std::string who;
  std::string flow;
  std::string began;
  std::string changed;
  int64_t moves = 0;  // how often something of it was committed
};

struct Owner {
  std::string sluice;
  std::string database;  // the id of the database, however it is reached
};

struct CopyState {
  std::string position;  // the key of the last row that was looked at, as SQL writes it; empty at the beginning
  int64_t seen = 0;
  int64_t copied = 0;
  int64_t total = 0;
  int64_t failed = 0;
  int64_t took_ms = 0;
  bool done = false;
};

struct FailedRow {
  int64_t place = 0;
  std::string key;
  std::string error;
};

class Ledger {
 public:
  // Only looks: nothing is made. None if the database has no ledger.
  static Result<std::optional<Owner>> owner(Database& database);

  // Makes the tables where they are missing, and claims the database for this Sluice. `conflict` if it belongs to
  // another one; `take_over` changes that.
  static Result<Ledger> claim(Database& database, const Caller& caller, const Clock& clock, bool take_over = false);
  // Has a copy of a database be another one: what is known of the first does not hold for it.
  static Result<void> make_another(Database& database);
  // Of a database that has one; nothing is claimed.
  static Ledger of(Database& database) { return {database, {}, nullptr}; }

  Result<std::vector<Entry>> entries();
  Result<std::optional<Entry>> entry(int64_t number);
  // Begins or goes on; every call counts as a move.
  Result<void> put(const Migration& migration, std::string_view phase);
  Result<void> forget(int64_t number);
  Result<void> forget_steps(int64_t number, std::string_view phase);

  // Statements of a phase that are done, by their place.
  Result<int64_t> done(int64_t number, std::string_view phase);
  Result<void> mark(int64_t number, std::string_view phase, int64_t place);

  Result<CopyState> copy(int64_t number, int64_t place);
  Result<void> put_copy(int64_t number, int64_t place, const CopyState& state);
  Result<std::vector<FailedRow>> failed(int64_t number, int64_t limit);
  Result<int64_t> failures(int64_t number);
  Result<void> add_failed(int64_t number, const FailedRow& row);
  Result<void> forget_failed(int64_t number, const FailedRow& row);

  // What is kept by name: the schema before an expansion, how to undo it, constraints that were not valid before it.
  Result<Value> kept(int64_t number, const std::string& name);
  Result<void> keep(int64_t number, const std::string& name, const std::string& text);

 private:
  Ledger(Database& database, Caller caller, const Clock* clock)
      : database_(&database), caller_(std::move(caller)), clock_(clock) {}

  std::string table(std::string_view name) const;
  Result<std::vector<Entry>> entries_where(const std::string& condition, int64_t number);
  Result<void> moved(int64_t number);

  Database* database_;
  Caller caller_;
  const Clock* clock_;
};

// Keeps every other migrator out of the database, until it ends or the connection does. `timeout` if there is another
// one: waiting for it is no fault. On SQLite the lease of a process of the same Sluice that is gone holds nobody up.
class MigratorLock {
 public:
  static Result<MigratorLock> take(Database& database, const Caller& caller, const Clock& clock);
  MigratorLock(MigratorLock&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)), holder_(std::move(other.holder_)) {}
  MigratorLock& operator=(MigratorLock&&) = delete;
  ~MigratorLock();

 private:
  MigratorLock(Database& database, std::string holder) : database_(&database), holder_(std::move(holder)) {}

  Database* database_;
  std::string holder_;
};

}  // namespace sluice::migrate
