// Runner takes a database from one schema to the next: expand, migrate, contract, or back by undo. Each call does one
// small thing and commits it together with the note that it is done, so a process that is killed between any two goes
// on where it was.
//
//   auto runner = Runner::open(database, migrations, caller, clock);
//   while (true) {
//     auto progress = runner->expand(7);   // one statement
//     if (!progress || progress->done) break;
//   }
//
// A runner holds the database's migrator lock for as long as it lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "migrate/copying.h"
#include "migrate/database.h"
#include "migrate/files.h"
#include "migrate/ledger.h"

namespace sluice::migrate {

struct Progress {
  bool done = false;  // with the phase
  std::string phase;  // as it stands in the ledger now
  std::string what;   // what was done, for people
  int64_t seen = 0;   // rows that were looked at, of all copies
  int64_t copied = 0;
  int64_t total = 0;  // about
  int64_t took_ms = 0;
  int64_t failed = 0;
  std::vector<std::string> errors;  // of rows that failed, and of checks; the first few
};

class Runner {
 public:
  static Result<Runner> open(Database& database, const Migrations& migrations, const Caller& caller, Clock& clock);

  Result<Progress> expand(int64_t number);
  // Batches for about so long. In phase `partial` it tries the rows again that failed.
  Result<Progress> migrate(int64_t number, int64_t budget_ms);
  Result<Progress> contract(int64_t number);
  Result<Progress> undo(int64_t number);
  // What stands there is taken to be migrations 1 to `number`, complete.
  Result<void> adopt(int64_t number);

  Ledger& ledger() { return ledger_; }

 private:
  Runner(Database& database, const Migrations& migrations, Clock& clock, MigratorLock lock, Ledger ledger)
      : database_(&database),
        migrations_(&migrations),
        clock_(&clock),
        lock_(std::move(lock)),
        ledger_(std::move(ledger)) {}

  struct Known {
    const Migration* migration = nullptr;
    std::string phase;
  };
  Result<Known> known(int64_t number);
  // The same, unless a file was changed after it ran. Nobody else changes the ledger while a runner lives.
  Result<Known> unchanged(int64_t number);
  Result<void> begin_expand(const Migration& migration);
  Result<void> run_statement(const Migration& migration, const Statement& statement, int64_t place);
  Result<void> run_concurrently(const Migration& migration, const Statement& statement, int64_t place);
  Result<void> drop_invalid(const std::string& index);
  Result<void> make_copy(const Migration& migration, size_t place, int64_t step);
  Result<void> end_phase(const Migration& migration, std::string_view phase);
  Result<void> keep_validated();
  Result<void> keep_undoing(const Migration& migration, const Schema& after);
  Result<std::vector<std::string>> statements_to_undo(int64_t number, const Schema& now);
  Result<std::vector<std::string>> known_undoing(int64_t number);

  Result<void> copy_batches(const Migration& migration, const Copy& copy, int64_t place, CopyState& state,
                            int64_t until_ns);
  // Whether it went through; if not, the row that is at fault is found by ever smaller batches.
  Result<bool> copy_batch(const Migration& migration, const Copy& copy, int64_t place, CopyState& state, int64_t size);
  Result<void> retry_rows(const Migration& migration, int64_t until_ns, bool& all);
  // A constraint that the expansion added as NOT VALID: its table and its name.
  Result<std::optional<Row>> next_unproven(const Migration& migration);
  Result<void> validate(const Row& constraint);
  Result<std::vector<std::string>> failing_checks(const Migration& migration);
  Result<Progress> progress_of(const Migration& migration, std::string what);

  Result<void> drop_copies(const Migration& migration);

  Database* database_;
  const Migrations* migrations_;
  Clock* clock_;
  MigratorLock lock_;
  Ledger ledger_;
  struct Before {
    int64_t number = 0;
    Schema schema;
  };
  std::optional<Before> before_;  // the schema before the expansion that this runner began last, as the ledger has it
  bool compared_ = false;         // the files with what ran
  int64_t size_ = 100;            // rows a batch, which finds its way to kBatchMs
};

// How the schema differs from what the last phase left, or nothing if there is no ledger.
Result<std::vector<Difference>> drift(Database& database);

// The first file that was changed after it ran, as an error that names both digests.
Result<void> compare_files(const Migrations& migrations, const std::vector<Entry>& entries);

}  // namespace sluice::migrate
