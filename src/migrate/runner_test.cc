// A database goes through its phases: both sides are kept, nothing is done twice, and whatever stops it leaves a way
// on.
#include "migrate/runner.h"

#include <gtest/gtest.h>

#include "migrate/testing_database.h"

namespace sluice::migrate {
namespace runner_test {

const std::string kUsers = "SELECT id, first, last, full_name FROM users ORDER BY id";

// Up to the expansion of number 2, with two rows from before.
void expanded(TestingDatabase& database, const Migrations& migrations) {
  database.expand(migrations, 1);
  database.migrate(migrations, 1);
  database.run("INSERT INTO users VALUES (1, 'Mary Ann', 'Lee'), (2, 'Bob', 'Stone');");
  EXPECT_EQ(database.expand(migrations, 2).phase, kExpanded);
}

TEST(Runner, GoesThroughItsPhases) {
  TestingDatabase database;
  Migrations migrations = split_names();
  expanded(database, migrations);
  EXPECT_EQ(database.rows(kUsers), "1|Mary Ann|Lee|NULL\n2|Bob|Stone|NULL\n");
  Progress copied = database.migrate(migrations, 2);
  EXPECT_EQ(copied.phase, kMigrated);
  EXPECT_EQ(copied.copied, 2);
  EXPECT_EQ(copied.total, 2);
  EXPECT_EQ(database.rows(kUsers), "1|Mary Ann|Lee|Mary Ann Lee\n2|Bob|Stone|Bob Stone\n");
  auto done = database.runner(migrations).contract(2);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->phase, kContracted);
  EXPECT_EQ(database.rows("SELECT * FROM users"), "1|Mary Ann Lee\n2|Bob Stone\n");
  EXPECT_EQ(database.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'"), "");
}

TEST(Runner, AnExpansionIsOverWhileItsRowsAreCopied) {
  TestingDatabase database;
  Migrations migrations = split_names();
  expanded(database, migrations);
  Runner runner = database.runner(migrations);
  ASSERT_TRUE(runner.ledger().put(migrations[1], kMigrating));
  auto again = runner.expand(2);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->done);
  EXPECT_EQ(again->phase, kMigrating);
}

TEST(Runner, WhatOthersChangeWhileRowsAreCopiedStaysTheirChange) {
  TestingDatabase database;
  Migrations migrations = split_names();
  expanded(database, migrations);
  database.run("ALTER TABLE users ADD COLUMN by_hand TEXT;");
  EXPECT_EQ(database.migrate(migrations, 2).phase, kMigrated);
  auto found = drift(database.database());
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(to_line(found->front()), "+ column \"users\".\"by_hand\"");
}

TEST(Runner, TakesAFailedContractionBackWhole) {
  Migrations migrations = split_names("ALTER TABLE users DROP COLUMN first;\nALTER TABLE users DROP COLUMN lost;");
  TestingDatabase database;
  expanded(database, migrations);
  database.migrate(migrations, 2);
  auto failed = database.runner(migrations).contract(2);
  ASSERT_FALSE(failed);
  EXPECT_EQ(to_string(failed.error()), "0002_full_name/contract.sql:2:1: no such column: \"lost\"");
  database.run("UPDATE users SET first = 'Rob' WHERE id = 2;");
  EXPECT_EQ(database.rows(kUsers), "1|Mary Ann|Lee|Mary Ann Lee\n2|Rob|Stone|Rob Stone\n");
  EXPECT_EQ((*database.runner(migrations).ledger().entry(2))->phase, kMigrated);
}

TEST(Runner, UndoesAnExpansion) {
  TestingDatabase database;
  Migrations migrations = split_names();
  expanded(database, migrations);
  database.migrate(migrations, 2);
  database.run("CREATE TABLE others(a);");  // somebody else's, which stays
  EXPECT_FALSE(database.runner(migrations).undo(1));
  auto undone = database.runner(migrations).undo(2);
  ASSERT_TRUE(undone) << undone.error().message;
  EXPECT_EQ(undone->phase, kPlanned);
  EXPECT_EQ(database.rows("SELECT * FROM users"), "1|Mary Ann|Lee\n2|Bob|Stone\n");
  EXPECT_EQ(database.rows("SELECT * FROM others"), "");
  EXPECT_EQ(database.expand(migrations, 2).phase, kExpanded);
  EXPECT_EQ(database.migrate(migrations, 2).phase, kMigrated);
}

TEST(Runner, DoesEachStatementOnceWhereverItStops) {
  auto migrations = read_migrations(
      Engine::sqlite,
      {{"0001_a.sql",
        "CREATE TABLE t(a); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); INSERT INTO t VALUES (3);"}});
  ASSERT_TRUE(migrations);
  TestingDatabase database;
  for (bool done = false; !done;) {
    auto progress = database.runner(*migrations).expand(1);  // each in a runner of its own
    ASSERT_TRUE(progress) << progress.error().message;
    done = progress->done;
  }
  EXPECT_EQ(database.rows("SELECT a FROM t"), "1\n2\n3\n");
}

TEST(Runner, NamesBothDigestsOfAFileThatWasChanged) {
  TestingDatabase database;
  database.expand(split_names(), 1);
  Migrations changed = split_names();
  changed[0].files["expand.sql"] = "sha256:00";
  auto refused = database.runner(changed).expand(2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "0001_init/expand.sql was changed after it ran: it was " +
                                         split_names()[0].files["expand.sql"] + " and is sha256:00");
  changed[0].name = "0001_other";
  refused = database.runner(changed).expand(2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "migration 1 is 0001_init in the database, and 0001_other in the files");
}

TEST(Runner, GoesInOrder) {
  TestingDatabase database;
  Migrations migrations = split_names();
  auto early = database.runner(migrations).expand(2);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().message, "0001_init comes first, and is planned");
  EXPECT_EQ(database.runner(migrations).expand(3).error().code, Code::not_found);
  EXPECT_EQ(database.runner(migrations).migrate(1, 1).error().message, "0001_init is planned: expand it first");
  EXPECT_EQ(database.runner(migrations).contract(1).error().message,
            "0001_init is planned, and only what is migrated is contracted");
}

TEST(Runner, AdoptsADatabaseThatIsThere) {
  TestingDatabase database;
  database.run("CREATE TABLE users(id INTEGER PRIMARY KEY, first TEXT, last TEXT);");
  Migrations migrations = split_names();
  ASSERT_TRUE(database.runner(migrations).adopt(1));
  // Nothing is known of what was there, so nothing of it is taken away.
  auto undone = database.runner(migrations).undo(1);
  ASSERT_FALSE(undone);
  EXPECT_EQ(undone.error().message, "it cannot be undone: it was adopted, so what it made is not known");
  EXPECT_EQ(database.rows("SELECT name FROM sqlite_schema WHERE name = 'users'"), "users\n");
  EXPECT_EQ(database.expand(migrations, 2).phase, kExpanded);
}

TEST(Runner, UndoesAnExpansionThatStoppedHalfWay) {
  TestingDatabase database;
  Migrations migrations = split_names();
  database.expand(migrations, 1);
  database.migrate(migrations, 1);
  ASSERT_TRUE(database.runner(migrations).expand(2));
  EXPECT_NE(database.rows("PRAGMA table_info(users)").find("full_name"), std::string::npos);
  ASSERT_TRUE(database.runner(migrations).undo(2));
  EXPECT_EQ(database.rows("PRAGMA table_info(users)").find("full_name"), std::string::npos);
  EXPECT_EQ(database.expand(migrations, 2).phase, kExpanded);
}

TEST(Runner, KeepsLittleOfEachMigration) {
  TestingDatabase database;
  Texts texts;
  for (int i = 1; i <= 40; ++i) {
    const std::string n = std::to_string(i);
    texts["00" + std::string(i < 10 ? "0" : "") + n + "_t.sql"] = "CREATE TABLE t" + n + "(a, b, c, d, e, f);";
  }
  auto migrations = read_migrations(Engine::sqlite, texts);
  ASSERT_TRUE(migrations) << migrations.error().message;
  for (int i = 1; i <= 40; ++i) {
    database.expand(*migrations, i);
    database.migrate(*migrations, i);
  }
  EXPECT_EQ(database.rows("SELECT max(length(value)) < 100 FROM _sluice_kept WHERE number > 0"), "1\n");
}

}  // namespace runner_test
}  // namespace sluice::migrate
