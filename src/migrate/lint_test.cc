// What an expansion is warned of, statement by statement, and what passes.
#include "migrate/lint.h"

#include <gtest/gtest.h>

namespace sluice::migrate {
namespace lint_test {

// The rules that are broken, in order; "-" if none is.
std::string rules(Engine engine, const std::string& sql) {
  auto migrations = read_migrations(engine, {{"0001_a.sql", sql}});
  EXPECT_TRUE(migrations) << migrations.error().message;
  std::string all;
  for (const Finding& each : lint(engine, migrations->front())) all += (all.empty() ? "" : " ") + each.rule;
  return all.empty() ? "-" : all;
}

TEST(Lint, KnowsWhatBreaksTheVersionBefore) {
  const std::pair<const char*, const char*> cases[] = {
      {"DROP TABLE users", "destroys"},
      {"drop table if exists users", "destroys"},
      {"DROP VIEW v", "destroys"},
      {"DROP INDEX i", "-"},
      {"DROP TRIGGER t", "-"},
      {"DELETE FROM users", "destroys"},
      {"UPDATE users SET a = 1", "rewrites"},
      {"ALTER TABLE users DROP COLUMN a", "destroys"},
      {"ALTER TABLE users DROP a", "destroys"},
      {"ALTER TABLE users RENAME TO people", "renames"},
      {"ALTER TABLE users RENAME COLUMN a TO b", "renames"},
      {"ALTER TABLE users ADD COLUMN a text", "-"},
      {"ALTER TABLE users ADD a text DEFAULT 'NOT NULL'", "-"},
      {"ALTER TABLE users ADD COLUMN a text NOT NULL", "breaks"},
      {"ALTER TABLE users ADD COLUMN a text NOT NULL DEFAULT ''", "-"},
      {"ALTER TABLE users /* DROP COLUMN a */ ADD COLUMN \"drop\" text -- RENAME", "-"},
      {"CREATE TABLE t(a); ALTER TABLE t ADD COLUMN b text NOT NULL; CREATE INDEX i ON t(a)", "-"},
      {"INSERT INTO users VALUES ('DROP TABLE users')", "-"},
      {"CREATE VIEW v AS SELECT 1", "-"},
  };
  for (const auto& [sql, expected] : cases) {
    EXPECT_EQ(rules(Engine::sqlite, sql), expected) << sql;
    EXPECT_EQ(rules(Engine::postgres, sql), expected) << sql;
  }
}

TEST(Lint, KnowsWhatPostgresLocksScansAndRewrites) {
  const std::pair<const char*, const char*> cases[] = {
      {"CREATE INDEX i ON users (a)", "locks"},
      {"CREATE UNIQUE INDEX i ON app.users (a)", "locks"},
      {"CREATE INDEX CONCURRENTLY i ON users (a)", "-"},
      {"ALTER TABLE users ADD CONSTRAINT c CHECK (a > 0)", "scans"},
      {"ALTER TABLE users ADD CONSTRAINT c CHECK (a > 0) NOT VALID", "-"},
      {"ALTER TABLE users ADD FOREIGN KEY (a) REFERENCES t (a)", "scans"},
      {"ALTER TABLE users ADD UNIQUE (a)", "locks"},
      {"ALTER TABLE users ADD CONSTRAINT c UNIQUE USING INDEX i", "-"},
      {"ALTER TABLE users ALTER COLUMN a TYPE bigint", "rewrites"},
      {"ALTER TABLE users ALTER a SET DATA TYPE bigint", "rewrites"},
      {"ALTER TABLE users ALTER a SET NOT NULL", "scans"},
      {"ALTER TABLE users ALTER a SET DEFAULT 7", "-"},
      {"ALTER TABLE ONLY app.users ADD COLUMN a int, DROP COLUMN b, ADD c numeric(4, 2) NOT NULL", "destroys breaks"},
      {"ALTER TABLE users ADD COLUMN a uuid DEFAULT gen_random_uuid()", "rewrites"},
      {"ALTER TABLE users DROP CONSTRAINT c", "-"},
      {"ALTER TABLE users SET SCHEMA other", "renames"},
      {"ALTER TYPE mood RENAME VALUE 'a' TO 'b'", "renames"},
      {"TRUNCATE users", "destroys"},
      {"REFRESH MATERIALIZED VIEW v", "locks"},
      {"CLUSTER users", "locks"},
  };
  for (const auto& [sql, expected] : cases) EXPECT_EQ(rules(Engine::postgres, sql), expected) << sql;
  EXPECT_EQ(rules(Engine::sqlite, "CREATE INDEX i ON users (a)"), "-");
}

TEST(Lint, LetsThroughWhatSomebodyHasThoughtAbout) {
  const std::string drop = "DROP TABLE users";
  EXPECT_EQ(rules(Engine::sqlite, "-- sluice: allow destroys because nothing reads it since 2019\n" + drop), "-");
  EXPECT_EQ(rules(Engine::sqlite, "-- sluice: allow destroys because \n" + drop), "destroys");
  EXPECT_EQ(rules(Engine::sqlite, "-- sluice: allow renames because of this\n" + drop), "destroys");
  EXPECT_EQ(rules(Engine::sqlite, "-- sluice: allow destroys because of this\nSELECT 1; " + drop), "destroys");
}

TEST(Lint, SaysWhereAndWhatToWrite) {
  auto migrations = read_migrations(Engine::sqlite, {{"0001_a.sql", "SELECT 1;\n\nDROP TABLE users;"}});
  ASSERT_TRUE(migrations);
  auto refused = check_expansion(Engine::sqlite, migrations->front());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "0001_a/expand.sql:3: destroys: what the version before still has belongs into contract.sql");
  EXPECT_EQ(refused.error().next, "or say before the statement: -- sluice: allow destroys because …");
}

}  // namespace lint_test
}  // namespace sluice::migrate
