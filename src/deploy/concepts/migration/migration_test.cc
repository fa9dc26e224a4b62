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

TEST_F(MigrationTest, AnExpansionThatCannotWorkIsFoundBeforeItsFirstStatement) {
  auto first = bring("1", kFirst);
  ASSERT_EQ(first.variant, "ok");
  auto files = kSecond;
  files["migrations/0002_name/expand.sql"] = "ALTER TABLE users ADD COLUMN name TEXT;\nALTER TABLE usrs ADD COLUMN a;";
  auto refused = bring("2", files);
  ASSERT_EQ(refused.variant, "failed") << write(refused.fields);
  EXPECT_EQ(text(refused, "message"), "0002_name/expand.sql:2:1: no such table: usrs; traffic stays as it was");
  EXPECT_EQ(ask(first, "SELECT count(*) FROM pragma_table_info('users')"), "3|");
  EXPECT_EQ(bring("3", kSecond).variant, "ok");
}

// What only rows can tell is found half way; what was begun is undone, and the corrected file runs.
TEST_F(MigrationTest, AnExpansionThatFailsHalfWayIsUndoneAndCorrected) {
  auto first = bring("1", kFirst);
  ASSERT_EQ(first.variant, "ok");
  ask(first, "INSERT INTO users VALUES (1, 'Bob', 'Fox'), (2, 'Bob', 'Fox')");
  auto files = kSecond;
  files["migrations/0002_name/expand.sql"] =
      "ALTER TABLE users ADD COLUMN name TEXT;\nCREATE UNIQUE INDEX u ON users(last);";
  auto failed = bring("2", files);
  ASSERT_EQ(failed.variant, "failed") << write(failed.fields);
  EXPECT_NE(text(failed, "message").find("0002_name/expand.sql:2:1: UNIQUE constraint failed: users.last"),
            std::string::npos)
      << text(failed, "message");
  files["migrations/0002_name/expand.sql"] = "ALTER TABLE users ADD COLUMN name TEXT;\nCREATE INDEX u ON users(last);";
  auto changed = bring("3", files);
  ASSERT_EQ(changed.variant, "failed") << write(changed.fields);
  EXPECT_NE(text(changed, "message").find("its expansion has not ended: undo the migration"), std::string::npos)
      << text(changed, "message");
  ASSERT_EQ(act("undo", text(failed, "revision")).variant, "ok");
  EXPECT_EQ(ask(first, "SELECT count(*) FROM pragma_table_info('users')"), "3|");
  auto last = bring("4", files);
  ASSERT_EQ(last.variant, "ok") << write(last.fields);
  EXPECT_EQ(ask(last, "SELECT name FROM users WHERE id = 2"), "Bob Fox|");
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

// ---- people who must agree first

class ApprovedContractionTest : public MigrationTest {
 protected:
  void bring_both(const std::string& keys) {
    auto one = bring("1", kFirst);
    EXPECT_EQ(one.variant, "ok") << write(one.fields);
    auto two = bring("2", kSecond, ", contractApprovals: 2" + keys);
    EXPECT_EQ(two.variant, "ok") << write(two.fields);
    v1 = text(one, "revision");
    v2 = text(two, "revision");
  }
  std::string waiting() {
    for (const auto& [id, row] : kit.rows("Approval")) {
      if (row.at("status") == "waiting") return id;
    }
    return "";
  }
  // Nobody waits for the people who are asked by it.
  engine::End ask_to_contract() {
    kit.start("Migration/contract", {{"migration", v2}});
    EXPECT_TRUE(eventually([&] { return !waiting().empty(); }));
    return kit.ends("Migration/contract").back();
  }
  engine::End vote(const std::string& who, const std::string& approval, bool agree) {
    kit.caller = who;
    return kit.run("Approval/vote", {{"approval", approval}, {"agree", agree}});
  }
  // As the host does with what is approved.
  engine::End run_approved(const std::string& approval, const std::string& who) {
    const json::value asked = kit.row("Approval", approval);
    EXPECT_EQ(asked.at("status"), "approved");
    EXPECT_EQ(asked.at("requester").as_string(), who);
    EXPECT_EQ(kit.run("Approval/conclude", {{"approval", approval}, {"status", "running"}, {"outcome", ""}}).variant,
              "ok");
    kit.caller = who;
    auto end = kit.run("Migration/contract", parse_json(asked.at("input").as_string()).value().root.as_object());
    EXPECT_EQ(kit.run("Approval/conclude", {{"approval", approval}, {"status", "done"}, {"outcome", "x"}}).variant,
              "ok");
    return end;
  }

  std::string v1, v2;
};

TEST_F(ApprovedContractionTest, WaitsUntilOtherPeopleAgree) {
  bring_both("");
  kit.caller = "user:ann";
  EXPECT_EQ(act("contract", v2).variant, "inUse") << "people are not asked for what cannot be done";
  EXPECT_EQ(waiting(), "");
  ASSERT_EQ(kit.run("Revision/drain", {{"revision", v1}}).variant, "ok");
  auto needed = ask_to_contract();
  ASSERT_EQ(needed.variant, "approvalNeeded") << write(needed.fields);
  EXPECT_EQ(text(needed, "message"),
            "2 other people must agree before the old side of the schema of shop@2 is removed; both sides stay");
  const std::string approval = waiting();
  EXPECT_EQ(act("contract", v2).variant, "approvalNeeded");
  EXPECT_EQ(vote("user:ann", approval, true).variant, "ownRequest");
  EXPECT_EQ(vote("user:bob", approval, true).variant, "counted");
  kit.caller = "user:ann";
  EXPECT_EQ(act("contract", v2).variant, "approvalNeeded") << "one is not enough";
  EXPECT_EQ(vote("user:cay", approval, true).variant, "ok");
  EXPECT_EQ(migration(v2).at("phase"), "migrated");
  auto done = run_approved(approval, "user:ann");
  EXPECT_EQ(done.variant, "ok") << write(done.fields);
  EXPECT_EQ(migration(v2).at("phase"), "contracted");
  EXPECT_EQ(kit.count("Approval"), 1U) << "who asks again waits for the same people";
}

TEST_F(ApprovedContractionTest, ANoIsKeptAndPeopleCanBeAskedAgain) {
  bring_both("");
  ASSERT_EQ(kit.run("Revision/drain", {{"revision", v1}}).variant, "ok");
  kit.caller = "user:ann";
  ASSERT_EQ(ask_to_contract().variant, "approvalNeeded");
  ASSERT_EQ(vote("user:bob", waiting(), false).variant, "rejected");
  ASSERT_TRUE(eventually([&] {
    const json::value status = kit.query("Migration/status", {{"migration", v2}}).fields.at("errors");
    return write(status).find("user:bob") != std::string::npos;
  }));
  kit.caller = "user:ann";
  ASSERT_EQ(ask_to_contract().variant, "approvalNeeded");
  EXPECT_EQ(vote("user:bob", waiting(), false).variant, "rejected");
}

TEST_F(ApprovedContractionTest, PeopleAreAskedOnceTheLastOldRevisionIsDrained) {
  bring_both(", autoContract: true");
  EXPECT_EQ(waiting(), "");
  kit.start("Revision/drain", {{"revision", v1}});
  ASSERT_TRUE(eventually([&] { return !waiting().empty(); }));
  const std::string approval = waiting();
  EXPECT_EQ(vote("user:bob", approval, true).variant, "counted");
  EXPECT_EQ(vote("user:cay", approval, true).variant, "ok");
  EXPECT_EQ(run_approved(approval, "autoContract").variant, "ok");
  EXPECT_EQ(migration(v2).at("phase"), "contracted");
}

// ---- who stands in the way of a contraction, one by one

class MigrationGuardsTest : public MigrationTest {
 protected:
  MigrationGuardsTest() {
    auto one = bring("1", kFirst);
    EXPECT_EQ(one.variant, "ok") << write(one.fields);
    auto two = bring("2", kSecond);
    EXPECT_EQ(two.variant, "ok") << write(two.fields);
    v1 = text(one, "revision");
    v2 = text(two, "revision");
    shop = text(one, "deployment");
    EXPECT_EQ(kit.run("Revision/drain", {{"revision", v1}}).variant, "ok");
  }

  // As if the old revision were in the middle of it.
  void set_lifecycle(const std::string& lifecycle) {
    json::value row = kit.row("Revision", v1);
    row.as_object()["lifecycle"] = lifecycle;
    kit.put("Revision", v1, row);
  }
  void expect_in_use(const std::string& message) {
    kit.restart();
    auto refused = act("contract", v2);
    ASSERT_EQ(refused.variant, "inUse") << write(refused.fields);
    EXPECT_EQ(text(refused, "message"), message);
    EXPECT_EQ(text(refused, "revision"), v1);
    EXPECT_EQ(migration(v2).at("phase"), "migrated");
  }

  std::string v1, v2, shop;
};

TEST_F(MigrationGuardsTest, AnOldRevisionIsReady) {
  set_lifecycle("ready");
  expect_in_use("shop@1 is ready, and needs the schema of migration 1");
}

TEST_F(MigrationGuardsTest, AnOldRevisionIsWarming) {
  set_lifecycle("warming");
  expect_in_use("shop@1 is warming, and needs the schema of migration 1");
}

TEST_F(MigrationGuardsTest, AnOldRevisionIsDraining) {
  set_lifecycle("draining");
  expect_in_use("shop@1 is draining, and needs the schema of migration 1");
}

TEST_F(MigrationGuardsTest, AnOldRevisionIsInASplit) {
  for (const char* step : {"retry", "warm"}) {
    ASSERT_EQ(kit.run(std::string("Revision/") + step, {{"revision", v1}}).variant, "ok") << step;
  }
  auto split = kit.run("Traffic/set", {{"deployment", shop},
                                       {"entries", json::array{json::object{{"revision", v2}, {"weightBps", 9'500}},
                                                               json::object{{"revision", v1}, {"weightBps", 500}}}}});
  ASSERT_EQ(split.variant, "ok") << write(split.fields);
  set_lifecycle("inactive");  // its share alone is in the way
  expect_in_use(v1 + " gets 500 bps of the traffic of " + shop + ", and needs the schema of migration 1");
}

TEST_F(MigrationGuardsTest, WhatIsNotCopiedIsNotContracted) {
  auto database = migrate::open_sqlite(
      stored.folder_of(std::string(kit.row("Deployment", shop).at("storage").as_string())) + "/data/app.db");
  ASSERT_TRUE(database);
  ASSERT_TRUE((*database)->run("UPDATE _sluice_migration SET phase = 'partial' WHERE number = 2"));
  auto refused = act("contract", v2);
  ASSERT_EQ(refused.variant, "rollback") << write(refused.fields);
  EXPECT_NE(text(refused, "reason").find("0002_name is partial, and only what is migrated is contracted"),
            std::string::npos)
      << text(refused, "reason");
  ASSERT_TRUE((*database)->run("UPDATE _sluice_migration SET phase = 'migrated' WHERE number = 2"));
  EXPECT_EQ(act("contract", v2).variant, "ok");
}

TEST_F(MigrationGuardsTest, SomebodyElseChangesTheDatabase) {
  const std::string database(migration(v2).at("database").as_string());
  json::value row = kit.row("Migration[B]", database);
  row.as_object()["floor"] = 2;
  kit.put("Migration[B]", database, row);
  kit.restart();
  auto busy = act("contract", v2);
  ASSERT_EQ(busy.variant, "rollback") << write(busy.fields);
  EXPECT_EQ(text(busy, "reason"), "the database is being changed already");
}

}  // namespace migration_test
}  // namespace sluice::deploy::migration
