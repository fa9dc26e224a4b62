// The copy, with the ledger's rows, so that what is done already is not done again.
#include "migrate/rehearsal.h"

#include <algorithm>

#include "migrate/ledger.h"
#include "migrate/runner.h"
#include "migrate/sql_text.h"

namespace sluice::migrate {
namespace {

constexpr std::string_view kLedgerPrefix = "_sluice_";
constexpr int64_t kBudgetMs = 1'000;

Result<void> copy_rows(Database& from, Database& to, const std::string& table) {
  auto rows = from.query("SELECT * FROM " + quoted_name(table));
  if (!rows) return rows.error();
  for (const Row& row : *rows) {
    std::string values;
    for (size_t i = 1; i <= row.size(); ++i) values += (i == 1 ? "$" : ", $") + std::to_string(i);
    auto put = to.run("INSERT INTO " + quoted_name(table) + " VALUES (" + values + ")", row);
    if (!put) return put;
  }
  return {};
}

// Tables come before what speaks of them. A virtual table makes the tables that it keeps its rows in by itself.
Result<void> copy_schema(Database& from, Database& to) {
  auto objects = from.query(
      "SELECT name, sql FROM sqlite_schema AS o WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND "
      "NOT "
      "EXISTS (SELECT 1 FROM sqlite_schema AS v WHERE v.sql LIKE 'CREATE VIRTUAL%' AND substr(o.name, 1, "
      "length(v.name) + "
      "1) = v.name || '_') ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 WHEN 'view' THEN 2 ELSE 3 END, "
      "rowid");
  if (!objects) return objects.error();
  for (const Row& object : *objects) {
    auto made = to.run(*object[1]);
    if (!made) return made;
    const bool of_ledger = object[0]->starts_with(kLedgerPrefix) && object[1]->starts_with("CREATE TABLE");
    if (!of_ledger || *object[0] == "_sluice_lease") continue;
    auto copied = copy_rows(from, to, *object[0]);
    if (!copied) return copied;
  }
  return {};
}

Result<void> run_phases(Runner& runner, const Migrations& migrations, bool contracts) {
  for (const Migration& each : migrations) {
    for (bool done = false; !done;) {
      auto progress = runner.expand(each.number);
      if (!progress) return progress.error();
      done = progress->done;
    }
    for (bool done = false; !done;) {
      auto progress = runner.migrate(each.number, kBudgetMs);
      if (!progress) return progress.error();
      if (progress->phase == kPartial) {
        return Error{.code = Code::invalid,
                     .message = each.name + " cannot be migrated" +
                                (progress->errors.empty() ? "" : ": " + progress->errors.front())};
      }
      done = progress->done;
    }
  }
  for (const Migration& each : migrations) {
    if (!contracts || each.contract.empty()) continue;
    auto contracted = runner.contract(each.number);
    if (!contracted) return contracted.error();
  }
  return {};
}

// Rows that failed are not there.
Result<void> forget_failed_rows(Database& scratch) {
  const std::string ledger = scratch.engine() == Engine::sqlite ? "_sluice_" : "sluice.";
  for (const std::string& sql : {"DELETE FROM " + ledger + "failed",
                                 "UPDATE " + ledger + "migration SET phase = 'migrating' WHERE phase = 'partial'"}) {
    auto ran = scratch.run(sql);
    if (!ran) return ran;
  }
  return {};
}

Result<void> rehearse_on(Database& scratch, const Migrations& migrations, Clock& clock, bool contracts) {
  auto owner = Ledger::owner(scratch);
  if (!owner) return owner.error();
  if (*owner) {
    auto forgotten = forget_failed_rows(scratch);
    if (!forgotten) return forgotten;
  }
  const Caller caller{.sluice = *owner ? (*owner)->sluice : std::string("rehearsal"), .who = "rehearsal"};
  auto runner = Runner::open(scratch, migrations, caller, clock);
  if (!runner) return runner.error();
  return run_phases(*runner, migrations, contracts);
}

// What the application's database can do and a fresh one cannot, such as its own extensions, is no fault of a
// migration.
Error no_copy(const Error& why) {
  return {.code = Code::denied, .message = "its schema cannot be copied: " + why.message, .next = why.next};
}

// The schema, and the rows of the ledger alone.
Result<void> fill_scratch(Database& database, const ScratchDatabase& scratch, const RehearsalTools& tools) {
  auto environment = environment_of(tools.address);
  if (!environment) return environment.error();
  auto owner = Ledger::owner(database);
  if (!owner) return owner.error();
  std::vector<std::vector<std::string>> dumps = {{"--schema-only"}};
  if (*owner) dumps.push_back({"--data-only", "--schema=sluice"});
  for (std::vector<std::string>& what : dumps) {
    const Scratch dump(tools.disk, tools.file);
    what.insert(what.begin(), {"pg_dump", "--format=custom", "--lock-wait-timeout=10s", "--file=" + dump.path()});
    auto dumped = tools.run(what, *environment);
    if (!dumped) return dumped;
    auto filled = fill_database(tools.run, dump.path(), scratch.address(), scratch.name());
    if (!filled) return filled;
  }
  return {};
}

Result<void> rehearse_on_server(Database& database, const Migrations& migrations, Clock& clock,
                                const RehearsalTools& tools, bool contracts) {
  auto scratch = ScratchDatabase::make(database, tools.address, tools.random);
  if (!scratch) return scratch.error();
  if (auto filled = fill_scratch(database, *scratch, tools); !filled) return no_copy(filled.error());
  auto copy = open_postgres(scratch->address());
  if (!copy) return copy.error();
  return rehearse_on(**copy, migrations, clock, contracts);
}

}  // namespace

Result<void> rehearse(Database& database, const Migrations& migrations, Clock& clock, const RehearsalTools& tools,
                      bool contracts) {
  if (database.engine() == Engine::postgres) return rehearse_on_server(database, migrations, clock, tools, contracts);
  auto scratch = open_sqlite(":memory:", true);
  if (!scratch) return scratch.error();
  if (auto copied = copy_schema(database, **scratch); !copied) return no_copy(copied.error());
  return rehearse_on(**scratch, migrations, clock, contracts);
}

}  // namespace sluice::migrate
