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
  EXPECT_EQ(kit.run("Migration/call", {{"migration", plain}}).variant, "notFound");
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

}  // namespace migration_step_test
}  // namespace sluice::deploy::migration
