// Databases of tests.
#include "migrate/testing_database.h"

#include <gtest/gtest.h>

#include "migrate/sql_text.h"

namespace sluice::migrate {

TestingDatabase::TestingDatabase() {
  auto opened = open_sqlite(path_, true);
  EXPECT_TRUE(opened) << opened.error().message;
  database_ = *std::move(opened);
  EXPECT_TRUE(database_->run("PRAGMA synchronous = off"));  // a test needs no disk
}

std::unique_ptr<Database> TestingDatabase::connection() {
  auto opened = open_sqlite(path_);
  EXPECT_TRUE(opened) << opened.error().message;
  return *std::move(opened);
}

void TestingDatabase::run(const std::string& script) {
  auto statements = split_statements(Engine::sqlite, script, "");
  ASSERT_TRUE(statements) << statements.error().message;
  for (const Statement& each : *statements) {
    auto ran = database_->run(each.text);
    ASSERT_TRUE(ran) << each.text << ": " << ran.error().message;
  }
}

std::string TestingDatabase::rows(const std::string& sql) {
  auto rows = database_->query(sql);
  EXPECT_TRUE(rows) << rows.error().message;
  std::string text;
  for (const Row& row : *rows) {
    for (size_t i = 0; i < row.size(); ++i) text.append(i == 0 ? "" : "|").append(row[i].value_or("NULL"));
    text += "\n";
  }
  return text;
}

Runner TestingDatabase::runner(const Migrations& migrations, const std::string& sluice) {
  auto runner = Runner::open(*database_, migrations, {.sluice = sluice, .who = "user:ann", .flow = "f1"}, clock_);
  EXPECT_TRUE(runner) << runner.error().message;
  return *std::move(runner);
}

Progress TestingDatabase::expand(const Migrations& migrations, int64_t number) {
  Runner running = runner(migrations);
  while (true) {
    auto progress = running.expand(number);
    EXPECT_TRUE(progress) << progress.error().message;
    if (!progress || progress->done) return progress ? *progress : Progress{};
  }
}

Progress TestingDatabase::migrate(const Migrations& migrations, int64_t number) {
  Runner running = runner(migrations);
  while (true) {
    auto progress = running.migrate(number, 5'000);
    EXPECT_TRUE(progress) << progress.error().message;
    if (!progress || progress->done) return progress ? *progress : Progress{};
  }
}

Migrations split_names(const std::string& contract) {
  auto migrations = read_migrations(
      Engine::sqlite,
      {{"0001_init.sql", "CREATE TABLE users(id INTEGER PRIMARY KEY, first TEXT, last TEXT);"},
       {"0002_full_name/expand.sql", "ALTER TABLE users ADD COLUMN full_name TEXT;"},
       {"0002_full_name/migration.yaml",
        "copy:\n"
        "  - table: users\n"
        "    key: [id]\n"
        "    forward: {full_name: \"first || ' ' || last\"}\n"
        "    back:\n"
        "      first: \"substr(full_name, 1, instr(full_name, ' ') - 1)\"\n"
        "      last: \"substr(full_name, instr(full_name, ' ') + 1)\"\n"},
       {"0002_full_name/check.sql", "SELECT id FROM users WHERE full_name IS NULL AND first IS NOT NULL;"},
       {"0002_full_name/contract.sql", contract}});
  EXPECT_TRUE(migrations) << migrations.error().message;
  return *std::move(migrations);
}

}  // namespace sluice::migrate
