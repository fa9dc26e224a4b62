// What SQLite's authorizer tells on a copy of the schema, and words do not.
#include "migrate/lint_sqlite.h"

#include <gtest/gtest.h>

namespace sluice::migrate {
namespace lint_sqlite_test {

constexpr const char* kSchema =
    "CREATE TABLE users (id integer PRIMARY KEY, name text); CREATE TABLE visits (user integer, at text);"
    "CREATE TABLE \"old [list]\" (a); CREATE VIEW names AS SELECT name FROM users;"
    "CREATE TRIGGER tidy AFTER INSERT ON visits BEGIN DELETE FROM users WHERE name IS NULL; END;"
    "CREATE TRIGGER mark AFTER DELETE ON visits BEGIN UPDATE users SET name = ''; END";

class LintSqlite : public ::testing::Test {
 protected:
  LintSqlite() {
    auto database = open_sqlite(":memory:", true);
    EXPECT_TRUE(database);
    auto statements = split_statements(Engine::sqlite, kSchema, "schema");
    EXPECT_TRUE(statements);
    for (const Statement& each : *statements) EXPECT_TRUE((*database)->run(each.text)) << each.text;
    EXPECT_TRUE(lint_.copy_schema(**database));
    lint_.begin_expansion();
  }

  // The rules that each statement breaks, in order; "-" for none.
  std::string rules(const std::string& sql) {
    auto statements = split_statements(Engine::sqlite, sql, "a.sql");
    EXPECT_TRUE(statements);
    std::string all;
    for (const Statement& statement : *statements) {
      for (const Broken& each : lint_.look(statement)) all += (all.empty() ? "" : " ") + each.rule;
    }
    return all.empty() ? "-" : all;
  }

  SqliteLint lint_;
};

TEST_F(LintSqlite, SeesWhatTriggersDo) {
  EXPECT_EQ(rules("INSERT INTO visits VALUES (1, 'now')"), "destroys");
  EXPECT_EQ(rules("DELETE FROM visits"), "destroys locks");
  EXPECT_EQ(rules("INSERT INTO users (id) VALUES (1)"), "-");
}

TEST_F(LintSqlite, KnowsTablesByWhatTheyAreNotByTheirSpelling) {
  EXPECT_EQ(rules("CREATE TABLE IF NOT EXISTS visits (user); DELETE FROM visits"), "destroys locks");
  EXPECT_EQ(rules("CREATE TABLE fresh (a); INSERT INTO fresh VALUES (1); DELETE FROM FRESH; UPDATE fresh SET a = 1; "
                  "ALTER TABLE fresh RENAME COLUMN a TO b; ALTER TABLE fresh RENAME TO newer; DROP TABLE newer"),
            "-");
  EXPECT_EQ(rules("ALTER TABLE `old [list]` RENAME TO list"), "renames");
  EXPECT_EQ(rules("DROP TABLE USERS"), "destroys");
}

TEST_F(LintSqlite, KnowsWhatBecomesOfColumns) {
  EXPECT_EQ(rules("ALTER TABLE users ADD COLUMN note text NOT NULL"), "breaks");
  EXPECT_EQ(rules("ALTER TABLE users ADD COLUMN kind text NOT NULL DEFAULT 'x'"), "-");
  EXPECT_EQ(rules("ALTER TABLE users ADD COLUMN [NOT NULL] text"), "-");
  EXPECT_EQ(rules("ALTER TABLE users ADD COLUMN twice int NOT NULL AS (id * 2) VIRTUAL"), "-");
  EXPECT_EQ(rules("ALTER TABLE visits RENAME COLUMN at TO moment"), "renames");
  EXPECT_EQ(rules("ALTER TABLE visits DROP COLUMN moment"), "destroys");
}

TEST_F(LintSqlite, LetsUpsertsAndIndexesBe) {
  EXPECT_EQ(rules("INSERT INTO users VALUES (1, 'a') ON CONFLICT DO UPDATE SET name = 'a'"), "-");
  EXPECT_EQ(rules("REPLACE INTO users VALUES (1, 'a')"), "destroys");
  EXPECT_EQ(rules("INSERT OR REPLACE INTO users VALUES (1, 'a')"), "destroys");
  EXPECT_EQ(rules("CREATE INDEX i ON users (name); DROP INDEX i; DROP TRIGGER tidy"), "-");
  EXPECT_EQ(rules("DROP VIEW names"), "destroys");
}

TEST_F(LintSqlite, ReadsWordsOfWhatItWasNotShown) {
  EXPECT_EQ(rules("DROP TABLE others"), "destroys");
  EXPECT_EQ(rules("DROP TABLE IF EXISTS others"), "destroys");
  EXPECT_EQ(rules("ALTER TABLE main.others ADD COLUMN a NOT NULL"), "breaks");
  EXPECT_EQ(rules("UPDATE others SET a = 1"), "locks");
  EXPECT_EQ(rules("WITH a AS (SELECT 1) DELETE FROM others"), "destroys");
  EXPECT_EQ(rules("CREATE INDEX i ON others (a)"), "-");
}

TEST_F(LintSqlite, NamesThePlaceOfWhatItCannotParse) {
  auto statements = split_statements(Engine::sqlite, "ALTER TABLE users\n  ADDD name", "a.sql");
  ASSERT_TRUE(statements);
  const std::vector<Broken> broken = lint_.look(statements->front());
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_EQ(broken[0],
            (Broken{.rule = "unparsed", .message = "near \"ADDD\": syntax error", .place = {.line = 2, .column = 3}}));
}

}  // namespace lint_sqlite_test
}  // namespace sluice::migrate
