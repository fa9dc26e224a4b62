// Whichever side of a table is written, the other follows, and no copy is copied back.
#include "migrate/copying.h"

#include <gtest/gtest.h>

#include "migrate/testing_database.h"

namespace sluice::migrate {
namespace copying_test {

const std::string kUsers = "SELECT id, first, last, full_name FROM users ORDER BY id";

// Up to the expansion of number 2, with two rows from before.
void expanded(TestingDatabase& database, const Migrations& migrations) {
  database.expand(migrations, 1);
  database.migrate(migrations, 1);
  database.run("INSERT INTO users VALUES (1, 'Mary Ann', 'Lee'), (2, 'Bob', 'Stone');");
  EXPECT_EQ(database.expand(migrations, 2).phase, kExpanded);
}

TEST(Copying, KeepsBothSidesEqualWhoeverWrites) {
  TestingDatabase database;
  Migrations migrations = split_names();
  expanded(database, migrations);
  // The old version writes.
  database.run(
      "INSERT INTO users(id, first, last) VALUES (3, 'Jo Ann', 'Fox'); UPDATE users SET last = 'Stein' WHERE id = 2;");
  // The new version writes.
  database.run(
      "INSERT INTO users(id, full_name) VALUES (4, 'Eve May Moon'); UPDATE users SET full_name = 'Ada Lee' WHERE id = "
      "1;");
  const std::string both =
      "1|Ada|Lee|Ada Lee\n2|Bob|Stein|Bob Stein\n3|Jo Ann|Fox|Jo Ann Fox\n4|Eve|May Moon|Eve May Moon\n";
  EXPECT_EQ(database.rows(kUsers), both);
  database.migrate(migrations, 2);
  EXPECT_EQ(database.rows(kUsers), both);
  // A key that changes, and a write that changes nothing, copy nothing back.
  database.run(
      "UPDATE users SET id = 13 WHERE id = 3; UPDATE users SET first = first, last = last, full_name = full_name;");
  EXPECT_EQ(database.rows("SELECT first, last FROM users WHERE id = 13"), "Jo Ann|Fox\n");
  EXPECT_EQ(database.rows("SELECT copying FROM _sluice_flag"), "0\n");
}

TEST(Copying, CopiesARowThatIsTouchedBeforeItsTurn) {
  TestingDatabase database;
  Migrations migrations = split_names();
  expanded(database, migrations);
  database.run("UPDATE users SET id = 20 WHERE id = 2;");
  EXPECT_EQ(database.rows(kUsers), "1|Mary Ann|Lee|NULL\n20|Bob|Stone|Bob Stone\n");
}

TEST(Copying, LeavesWhatTheNewVersionWroteEmpty) {
  auto migrations = read_migrations(
      Engine::sqlite, {{"0001_a.sql", "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL DEFAULT '')"},
                       {"0002_b/expand.sql", "ALTER TABLE t ADD COLUMN b TEXT NOT NULL DEFAULT ''"},
                       {"0002_b/migration.yaml",
                        "copy: [{table: t, key: [id], forward: {b: \"a || '!'\"}, back: {a: \"rtrim(b, '!')\"}}]"}});
  ASSERT_TRUE(migrations) << migrations.error().message;
  TestingDatabase database;
  database.expand(*migrations, 1);
  database.run("INSERT INTO t(id, a) VALUES (1, 'x');");
  database.expand(*migrations, 2);
  database.run("INSERT INTO t(id, b) VALUES (2, 'y!'); UPDATE t SET b = '' WHERE id = 2;");
  database.migrate(*migrations, 2);
  EXPECT_EQ(database.rows("SELECT * FROM t"), "1|x|x!\n2||\n");
}

}  // namespace copying_test
}  // namespace sluice::migrate
