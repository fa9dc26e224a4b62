// Files become migrations, and what could only fail later is refused with its place.
#include "migrate/files.h"

#include <gtest/gtest.h>

namespace sluice::migrate {
namespace files_test {

std::string refused(const Texts& texts, Engine engine = Engine::postgres) {
  auto migrations = read_migrations(engine, texts);
  EXPECT_FALSE(migrations);
  return migrations ? "" : to_string(migrations.error());
}

TEST(MigrationFiles, AreReadByNumber) {
  auto migrations = read_migrations(Engine::postgres, {{"0002_b/expand.sql", "SELECT 1; SELECT 2"},
                                                       {"0002_b/contract.sql", "SELECT 3"},
                                                       {"0002_b/check.sql", "SELECT 4"},
                                                       {"0001_a.sql", ""}});
  ASSERT_TRUE(migrations) << migrations.error().message;
  ASSERT_EQ(migrations->size(), 2U);
  EXPECT_EQ(migrations->front().name, "0001_a");
  const Migration& second = migrations->back();
  EXPECT_EQ(second.number, 2);
  EXPECT_EQ(second.expand.size(), 2U);
  EXPECT_EQ(second.contract.size(), 1U);
  EXPECT_EQ(second.files.at("contract.sql"), "sha256:1d6a12252ca55db7a202d76b7afdcdacb9b0c90734f73d9c88f27eba4bf67288");
}

TEST(MigrationFiles, HaveNumbersWithoutGaps) {
  EXPECT_EQ(refused({{"0002_b.sql", ""}}), "there is no migration 1, and one with the number 2");
  EXPECT_EQ(refused({{"0001_a.sql", ""}, {"0001_b.sql", ""}}), "number 1 is both 0001_a and 0001_b");
  EXPECT_EQ(refused({{"0001_a.sql", ""}, {"0001_a/expand.sql", ""}}), "number 1 is both 0001_a and 0001_a");
  EXPECT_EQ(refused({{"init.sql", ""}}), "init.sql does not begin with its number");
  EXPECT_EQ(refused({{"readme.txt", ""}}), "readme.txt is no migration");
  EXPECT_EQ(refused({{"0001_a/check.sql", ""}}), "0001_a has no expand.sql");
  EXPECT_EQ(refused({{"0001_a/expand.sql", ""}, {"0001_a/expnd.sql", ""}}),
            "0001_a/expnd.sql is no file of a migration");
}

TEST(MigrationFiles, LeaveTransactionsToSluice) {
  EXPECT_EQ(
      refused({{"0001_a.sql", "SELECT 1;\ncommit;"}}),
      "0001_a.sql:2:1: COMMIT does not belong into a migration: transactions are Sluice's: it runs each statement "
      "of an expansion, and a whole contraction, in one");
  for (const char* text :
       {"BEGIN", "END", "ROLLBACK", "SAVEPOINT a", "SET lock_timeout = 0", "VACUUM", "COPY a FROM STDIN"}) {
    EXPECT_NE(refused({{"0001_a.sql", text}}).find("does not belong into a migration"), std::string::npos) << text;
  }
  EXPECT_NE(refused({{"0001_a.sql", "ATTACH 'x' AS y"}}, Engine::sqlite).find("does not belong"), std::string::npos);
}

std::string rule(const std::string& yaml) {
  return refused({{"0001_a/expand.sql", ""}, {"0001_a/migration.yaml", "copy:\n- " + yaml}});
}

TEST(MigrationFiles, HaveRulesThatCanWork) {
  EXPECT_EQ(rule("{table: a, key: [], forward: {b: c}}"), "0001_a/migration.yaml:1:1: the copy of a names no key");
  EXPECT_EQ(rule("{table: a, key: [id], forward: {}}"), "0001_a/migration.yaml:1:1: the copy of a has no forward");
  EXPECT_EQ(rule("{table: a, key: [id], forward: {id: b}}"),
            "0001_a/migration.yaml:1:1: the key id of a is copied, too");
  EXPECT_EQ(rule("{table: a, key: [id], forward: {b: c}, back: {b: d}}"),
            "0001_a/migration.yaml:1:1: b of a is on both sides of its copy");
  EXPECT_EQ(rule("{table: a, key: [id], forward: {b: 'c; DROP TABLE x'}}"),
            "0001_a/migration.yaml:1:1: \"c; DROP TABLE x\" is no expression for b");
  EXPECT_EQ(rule("{table: a, key: [id], forward: {'b c': d}}"), "0001_a/migration.yaml:1:1: \"b c\" is no name of SQL");
  EXPECT_NE(rule("{table: a, keys: [id], forward: {b: c}}").find("/copy/0/keys: unknown field"), std::string::npos);
}

}  // namespace files_test
}  // namespace sluice::migrate
