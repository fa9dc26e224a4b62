// Migration with the kit around it, on a SQLite file: one test a variant.
#include <gtest/gtest.h>

#include "deploy/concepts/migration/testing_migration.h"
#include "lang/run/harness.h"

namespace sluice::deploy::migration {

void prepare(lang::Harness&) {}

namespace migration_test {

TEST_F(MigrationTest, AnUpMigratesAndAContractionWaitsForOldRevisions) {
  auto first = bring("1", kFirst);
  ASSERT_EQ(first.variant, "ok") << write(first.fields);
  ask(first, "INSERT INTO users VALUES (1, 'Mary Ann', 'Lee')");
  const std::string v1 = text(first, "revision");
  auto second = bring("2", kSecond);
  ASSERT_EQ(second.variant, "ok") << write(second.fields);
  const std::string v2 = text(second, "revision");
  EXPECT_EQ(ask(second, "SELECT * FROM users"), "1|Mary Ann|Lee|Mary Ann Lee|");

  auto planned = act("plan", v2);
  ASSERT_EQ(planned.variant, "ok") << write(planned.fields);
  EXPECT_EQ(planned.fields.at("phase"), "migrated");
  EXPECT_EQ(planned.fields.at("steps"), (json::array{"0002_name contract: ALTER TABLE users DROP COLUMN first",
                                                     "0002_name contract: ALTER TABLE users DROP COLUMN last"}));
  EXPECT_EQ(act("plan", v1).variant, "noMigrationNeeded");

  // The old one is ready still: it can get traffic any time.
  auto refused = act("contract", v2);
  ASSERT_EQ(refused.variant, "inUse") << write(refused.fields);
  EXPECT_EQ(refused.fields.at("message"), "shop@1 is ready, and needs the schema of migration 1");
  ASSERT_EQ(kit.run("Revision/drain", {{"revision", v1}}).variant, "ok");
  ASSERT_EQ(act("contract", v2).variant, "ok");
  EXPECT_EQ(ask(second, "SELECT * FROM users"), "1|Mary Ann Lee|");
  EXPECT_EQ(migration(v2).at("phase"), "contracted");

  // From now on the old one neither starts nor gets traffic.
  ASSERT_EQ(kit.run("Revision/retry", {{"revision", v1}}).variant, "ok");
  auto warmed = kit.run("Revision/warm", {{"revision", v1}});
  ASSERT_EQ(warmed.variant, "failed");
  EXPECT_EQ(warmed.fields.at("message"),
            "it needs the schema of migration 1, and migration 2 has removed what was there before");
  EXPECT_NE(kit.run("Traffic/rollback", {{"deployment", text(first, "deployment")}, {"steps", 1}}).variant, "ok");
  EXPECT_EQ(act("undo", v2).variant, "inUse");
}

TEST_F(MigrationTest, WhatTheBundleKeepsForPeopleIsRefusedUntilTheyDoIt) {
  auto first = bring("1", kFirst);
  ASSERT_EQ(first.variant, "ok") << write(first.fields);
  auto refused = bring("2", kSecond, ", autoExpand: false");
  ASSERT_EQ(refused.variant, "failed");
  EXPECT_EQ(
      refused.fields.at("message"),
      "its database has the schema of migration 1, and it needs that of 2; autoExpand is off; traffic stays as it "
      "was");
}

TEST_F(MigrationTest, RowsThatFailAreTriedAgain) {
  auto first = bring("1", kFirst);
  ASSERT_EQ(first.variant, "ok");
  ask(first, "INSERT INTO users VALUES (1, 'Bob', 'Fox'), (2, 'Bob', 'Fox')");
  auto refused = bring("2", kSecond);
  ASSERT_EQ(refused.variant, "failed");
  EXPECT_NE(text(refused, "message").find("UNIQUE constraint failed"), std::string::npos) << text(refused, "message");
  std::string v2;
  for (const auto& [id, row] : kit.rows("Migration")) {
    if (row.at("toVersion") == 2) v2 = id;
  }
  auto listed = kit.query("Migration/list", {{"environment", "local"}});
  EXPECT_EQ(listed.fields.at("migrations").as_array().size(), 2U);
  auto status = kit.query("Migration/status", {{"migration", v2}});
  EXPECT_EQ(status.variant, "ok");
  EXPECT_EQ(status.fields.at("phase"), "partial");
  EXPECT_EQ(status.fields.at("recordsFailed"), 1);
  auto again = act("retry", v2);
  ASSERT_EQ(again.variant, "partial") << write(again.fields);
  EXPECT_EQ(again.fields.at("migrated"), 1);
  EXPECT_EQ(act("migrate", v2).variant, "partial");
  EXPECT_EQ(act("resume", v2).variant, "partial");
  EXPECT_EQ(act("contract", v2).variant, "inUse");  // @1 serves
  EXPECT_EQ(ask(first, "SELECT count(first) FROM users"), "2|");
  ask(first, "UPDATE users SET last = 'Lee' WHERE id = 2");
  EXPECT_EQ(act("retry", v2).variant, "ok");
  EXPECT_EQ(act("migrate", v2).variant, "ok");
  EXPECT_EQ(act("resume", v2).variant, "ok");
  EXPECT_EQ(act("pause", v2).variant, "ok");
  EXPECT_EQ(migration(v2).at("paused"), true);
  EXPECT_EQ(act("undo", v2).variant, "ok");
  EXPECT_EQ(ask(first, "SELECT * FROM users WHERE id = 2"), "2|Bob|Lee|");
  EXPECT_EQ(act("expand", v2).variant, "ok");
  ask(first, "CREATE TABLE by_hand(a)");
  auto drift = act("drift", v2);
  ASSERT_EQ(drift.variant, "ok") << write(drift.fields);
  EXPECT_EQ(drift.fields.at("differences"), json::array{"+ table \"by_hand\""});
}

TEST_F(MigrationTest, APlanIsRehearsedAndRefusedOverWhatOthersChanged) {
  auto first = bring("1", kFirst);
  ASSERT_EQ(first.variant, "ok");
  const std::string v1 = text(first, "revision");
  auto files = kSecond;
  files["migrations/0002_name/contract.sql"] = "ALTER TABLE users DROP COLUMN lost;";
  auto second = bring("2", files, ", autoExpand: false");
  ASSERT_EQ(second.variant, "failed");
  // It says what comes first, and is not taken for done.
  auto early = act("migrate", text(second, "revision"));
  ASSERT_EQ(early.variant, "partial") << write(early.fields);
  EXPECT_NE(write(early.fields).find("0002_name is planned: expand it first"), std::string::npos)
      << write(early.fields);
  auto planned = act("plan", text(second, "revision"));
  ASSERT_EQ(planned.variant, "incompatible") << write(planned.fields);
  EXPECT_EQ(planned.fields.at("reason"), "0002_name/contract.sql:1:1: no such column: \"lost\"");
  EXPECT_EQ(ask(first, "SELECT count(*) FROM pragma_table_info('users')"), "3|");

  ask(first, "CREATE TABLE by_hand(a)");
  ask(first, "ALTER TABLE users RENAME COLUMN first TO given");
  auto third = bring("3", kSecond);
  ASSERT_EQ(third.variant, "failed") << write(third.fields);
  EXPECT_NE(text(third, "message").find("since the last phase: - column \"users\".\"first\""), std::string::npos)
      << text(third, "message");
  ask(first, "ALTER TABLE users RENAME COLUMN given TO first");
  planned = act("plan", v1);
  ASSERT_EQ(planned.variant, "incompatible");
  EXPECT_NE(text(planned, "reason").find("+ table \"by_hand\""), std::string::npos) << text(planned, "reason");
  ASSERT_EQ(kit.run("Migration/adopt", {{"migration", v1}, {"at", 1}}).variant, "ok");
  EXPECT_EQ(act("plan", v1).variant, "noMigrationNeeded");
}

TEST_F(MigrationTest, NothingIsDestroyedByAnExpansionByAccident) {
  auto first = bring("1", kFirst);
  ASSERT_EQ(first.variant, "ok");
  auto files = kFirst;
  files["migrations/0002_gone/expand.sql"] = "CREATE TABLE people(id);\nDROP TABLE users;";
  auto refused = bring("2", files);
  ASSERT_EQ(refused.variant, "failed") << write(refused.fields);
  EXPECT_EQ(
      refused.fields.at("message"),
      "0002_gone/expand.sql:2: destroys: what the version before still has belongs into contract.sql; or say before "
      "the statement: -- sluice: allow destroys because …; traffic stays as it was");
  EXPECT_EQ(act("plan", text(refused, "revision")).variant, "incompatible");
  EXPECT_EQ(ask(first, "SELECT name FROM sqlite_schema WHERE name IN ('users', 'people')"), "users|");
  files["migrations/0002_gone/expand.sql"] =
      "CREATE TABLE people(id);\n-- sluice: allow destroys because nobody reads it\nDROP TABLE users;";
  EXPECT_EQ(bring("3", files).variant, "ok");
}

}  // namespace migration_test
}  // namespace sluice::deploy::migration
