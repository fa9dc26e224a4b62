// Rows that fail are kept and tried again, and checks are asked.
#include <gtest/gtest.h>

#include "migrate/runner.h"
#include "migrate/testing_database.h"

namespace sluice::migrate {
namespace runner_copy_test {

// A unique index that two rows break.
Migrations lower_names() {
  auto migrations = read_migrations(
      Engine::sqlite,
      {{"0001_a.sql", "CREATE TABLE t(id TEXT NOT NULL, n INTEGER NOT NULL, name TEXT, PRIMARY KEY (id, n))"},
       {"0002_b/expand.sql", "ALTER TABLE t ADD COLUMN small TEXT; CREATE UNIQUE INDEX u ON t(small);"},
       {"0002_b/migration.yaml", "copy: [{table: t, key: [id, n], forward: {small: lower(name)}}]"}});
  EXPECT_TRUE(migrations) << migrations.error().message;
  return *std::move(migrations);
}

TEST(RunnerCopy, KeepsRowsThatFailAndTriesThemAgain) {
  Migrations migrations = lower_names();
  TestingDatabase database;
  database.expand(migrations, 1);
  for (int i = 0; i < 250; ++i) {
    std::string name = i == 120 ? "N7" : "n" + std::to_string(i);
    database.run("INSERT INTO t VALUES ('it''s', " + std::to_string(i) + ", '" + name + "');");
  }
  database.expand(migrations, 2);
  Progress partial = database.migrate(migrations, 2);
  EXPECT_EQ(partial.phase, kPartial);
  EXPECT_EQ(partial.copied, 249);
  EXPECT_EQ(partial.seen, 250);
  EXPECT_EQ(partial.failed, 1);
  EXPECT_EQ(partial.errors, std::vector<std::string>{"t ('it''s', 120): UNIQUE constraint failed: t.small"});
  EXPECT_EQ(database.migrate(migrations, 2).phase, kPartial);
  EXPECT_FALSE(database.runner(migrations).contract(2));
  database.run("UPDATE t SET name = 'other' WHERE n = 120;");
  Progress again = database.migrate(migrations, 2);
  EXPECT_EQ(again.phase, kMigrated);
  EXPECT_EQ(again.failed, 0);
  EXPECT_EQ(database.rows("SELECT small FROM t WHERE n = 120"), "other\n");
}

TEST(RunnerCopy, SaysWhichCheckFails) {
  auto migrations =
      read_migrations(Engine::sqlite, {{"0001_a/expand.sql", "CREATE TABLE t(a)"},
                                       {"0001_a/check.sql", "SELECT 1 WHERE 0;\nSELECT 1 UNION SELECT 2;"}});
  ASSERT_TRUE(migrations);
  TestingDatabase database;
  database.expand(*migrations, 1);
  Progress failed = database.migrate(*migrations, 1);
  EXPECT_EQ(failed.phase, kPartial);
  EXPECT_EQ(failed.errors, std::vector<std::string>{"0001_a/check.sql:2 returns 2 rows"});
}

}  // namespace runner_copy_test
}  // namespace sluice::migrate
