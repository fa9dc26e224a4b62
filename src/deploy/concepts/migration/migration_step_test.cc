// Steps on real databases: a contraction that fails, an address that leads nowhere, a bundle without migrations.
#include "deploy/concepts/migration/testing_migration.h"

namespace sluice::deploy::migration {
namespace migration_step_test {

class MigrationStepTest : public MigrationTest {};

TEST_F(MigrationStepTest, AContractionThatFailsTakesNothingAway) {
  auto files = kSecond;
  files["migrations/0002_name/contract.sql"] =
      "ALTER TABLE users DROP COLUMN first; ALTER TABLE users DROP COLUMN lost;";
  auto end = bring("1", files);
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  auto failed = act("contract", text(end, "revision"));
  ASSERT_EQ(failed.variant, "rollback");
  EXPECT_NE(text(failed, "reason").find("no such column: \"lost\""), std::string::npos) << text(failed, "reason");
  EXPECT_EQ(ask(end, "SELECT count(first) FROM users"), "0|");
  ask(end, "CREATE TABLE later(a)");
}

TEST_F(MigrationStepTest, ABundleWithoutMigrationsHasNone) {
  auto end = up(world.put("plain", "1"));
  ASSERT_EQ(end.variant, "ok");
  const std::string plain = text(end, "revision");
  EXPECT_EQ(act("plan", plain).fields.at("reason"), "its bundle has no migrations");
  EXPECT_EQ(act("expand", plain).variant, "failed");
  EXPECT_EQ(act("drift", plain).variant, "failed");
  EXPECT_EQ(act("undo", plain).variant, "failed");
  EXPECT_EQ(act("contract", plain).variant, "rollback");
  EXPECT_EQ(act("pause", plain).variant, "notFound");
  EXPECT_EQ(act("resume", plain).variant, "notFound");
  EXPECT_EQ(kit.query("Migration/status", {{"migration", plain}}).variant, "notFound");
  EXPECT_EQ(act("history", plain).variant, "failed");
  EXPECT_EQ(kit.run("Migration/adopt", {{"migration", plain}, {"at", 1}}).variant, "failed");
}

TEST_F(MigrationStepTest, WhatHasNoAddressCannotBePrepared) {
  const std::string settings =
      R"({"folder":"migrations","database":"DB","autoExpand":true,"autoMigrate":true,"autoContract":false,)"
      R"("backupBefore":false})";
  auto prepare = [&](const std::string& asked, const std::string& config) {
    return kit.run("Migration/prepare", {{"migration", "r1"},
                                         {"concept", "shop"},
                                         {"sequence", 1},
                                         {"deployment", "d1"},
                                         {"environment", "local"},
                                         {"source", "nowhere"},
                                         {"settings", asked},
                                         {"packConfig", config},
                                         {"runtimeConfig", R"({"storage":"d-1"})"}});
  };
  EXPECT_EQ(prepare("{", "{}").variant, "unfit");
  auto unfit = prepare(settings, "{}");
  ASSERT_EQ(unfit.variant, "unfit") << write(unfit.fields);
  EXPECT_EQ(unfit.fields.at("message"), "the address of its database is DB, which is no secret");
  auto secret = prepare(settings, R"({"secret_refs":{"DB":"secret://local/shop/shop/DB"}})");
  ASSERT_EQ(secret.variant, "secret") << write(secret.fields);
  EXPECT_EQ(secret.fields.at("name"), "shop/DB");
  auto file = prepare(
      R"({"folder":"migrations","file":"data/app.db","autoExpand":true,"autoMigrate":true,"autoContract":false,)"
      R"("backupBefore":true})",
      "{}");
  ASSERT_EQ(file.variant, "file") << write(file.fields);
  EXPECT_EQ(file.fields.at("storage"), "d-1");
}

TEST_F(MigrationStepTest, ADatabaseThatIsThereIsAdopted) {
  auto refused = bring("1", kFirst, ", autoExpand: false");
  ASSERT_EQ(refused.variant, "failed") << write(refused.fields);
  const std::string v1 = text(refused, "revision");
  auto neither = kit.run("Migration/adopt", {{"migration", v1}});
  ASSERT_EQ(neither.variant, "failed");
  EXPECT_EQ(neither.fields.at("reason"), "say at which migration the database is, or that it is taken over");
  auto adopted = kit.run("Migration/adopt", {{"migration", v1}, {"at", 1}});
  ASSERT_EQ(adopted.variant, "ok") << write(adopted.fields);
  auto told = act("history", v1);
  ASSERT_EQ(told.variant, "ok") << write(told.fields);
  const std::string first(told.fields.at("entries").as_array().front().as_string());
  EXPECT_EQ(first.substr(0, 21), "0001_init  migrated  ");
  EXPECT_NE(first.find("  by test in "), std::string::npos) << first;
  ASSERT_EQ(bring("1", kFirst, ", autoExpand: false").variant, "ok");
}

TEST_F(MigrationStepTest, ADatabaseOfAnotherSluiceIsRefusedUntilItIsTakenOver) {
  auto first = bring("1", kFirst);
  ASSERT_EQ(first.variant, "ok") << write(first.fields);
  ask(first, "UPDATE _sluice_owner SET sluice = 'another'");
  auto refused = bring("2", kSecond);
  ASSERT_EQ(refused.variant, "failed");
  EXPECT_NE(text(refused, "message").find("the database belongs to another Sluice, another"), std::string::npos)
      << text(refused, "message");
  auto taken = kit.run("Migration/adopt", {{"migration", text(first, "revision")}, {"takeOver", true}});
  ASSERT_EQ(taken.variant, "ok") << write(taken.fields);
  EXPECT_EQ(bring("2", kSecond).variant, "ok");
}

// Whether a contraction happened is not known, so what it would have removed is missed by nobody until somebody asks
// again.
TEST_F(MigrationStepTest, WhatMayHaveBeenContractedStaysClaimed) {
  auto first = bring("1", kFirst);
  ASSERT_EQ(first.variant, "ok");
  auto second = bring("2", kSecond);
  ASSERT_EQ(second.variant, "ok") << write(second.fields);
  const std::string v1 = text(first, "revision"), v2 = text(second, "revision");
  ASSERT_EQ(kit.run("Revision/drain", {{"revision", v1}}).variant, "ok");
  const std::string database(migration(v2).at("database").as_string());
  auto claim = [&](bool unsure) {
    json::value row = kit.row("Migration[B]", database);
    row.as_object()["floor"] = 2;
    row.as_object()["unsure"] = unsure;
    kit.put("Migration[B]", database, row);
    kit.restart();
  };
  claim(false);
  auto busy = act("contract", v2);
  ASSERT_EQ(busy.variant, "rollback") << write(busy.fields);
  EXPECT_EQ(text(busy, "reason"), "the database is being changed already");
  claim(true);
  ASSERT_EQ(kit.run("Revision/drain", {{"revision", v2}}).variant, "inUse");  // it serves
  EXPECT_EQ(kit.run("Revision/retry", {{"revision", v1}}).variant, "ok");
  auto warmed = kit.run("Revision/warm", {{"revision", v1}});
  ASSERT_EQ(warmed.variant, "failed");
  EXPECT_EQ(warmed.fields.at("check"), "schema");
  EXPECT_EQ(act("contract", v2).variant, "ok");
  EXPECT_EQ(kit.row("Migration[B]", database).at("unsure"), false);
  EXPECT_EQ(ask(second, "SELECT count(*) FROM pragma_table_info('users')"), "2|");
}

TEST_F(MigrationStepTest, AnAddressIsASecret) {
  auto end = up(world.put("shop", "1", "secrets: [DB]\nmigrations: {database: DB, backupBefore: false}\n", kFirst));
  EXPECT_EQ(end.variant, "failed");
  ASSERT_EQ(kit.run("Secret/put", {{"environment", "local"},
                                   {"provider", "store"},
                                   {"name", "shop/DB"},
                                   {"value", "postgresql://app:hunter2@/app?host=/nowhere"}})
                .variant,
            "ok");
  end = up(world.put("shop", "2", "secrets: [DB]\nmigrations: {database: DB, backupBefore: false}\n", kFirst));
  ASSERT_EQ(end.variant, "failed") << write(end.fields);
  EXPECT_EQ(write(end.fields).find("hunter2"), std::string::npos);
  EXPECT_NE(text(end, "message").find("the database does not answer"), std::string::npos) << text(end, "message");
}

TEST_F(MigrationStepTest, WithAutoContractTheOldSideGoesWithItsLastRevision) {
  auto first = bring("1", kFirst);
  ASSERT_EQ(first.variant, "ok");
  auto second = bring("2", kSecond, ", autoContract: true");
  ASSERT_EQ(second.variant, "ok");
  EXPECT_EQ(migration(text(second, "revision")).at("phase"), "migrated");
  ASSERT_EQ(kit.run("Revision/drain", {{"revision", text(first, "revision")}}).variant, "ok");
  EXPECT_TRUE(eventually([&] { return migration(text(second, "revision")).at("phase") == "contracted"; }));
}

}  // namespace migration_step_test
}  // namespace sluice::deploy::migration
