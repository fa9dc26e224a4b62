// tests/migrate/test_lint.py compares locks with those of a real server; here is what it cannot tell: whose a table is.
#include "migrate/lock_level.h"

#include <gtest/gtest.h>

namespace sluice::migrate {
namespace lock_level_test {

std::string lock_in(const std::string& sql, const TableNames& own = {}) {
  auto tree = parse_postgres(sql);
  EXPECT_TRUE(tree) << sql;
  return std::string(lock_name(lock_of(*tree, own)));
}

TEST(LockLevel, IsTheStrongestOne) {
  EXPECT_EQ(lock_in("ALTER TABLE users SET (fillfactor = 70)"), "SHARE UPDATE EXCLUSIVE");
  EXPECT_EQ(lock_in("ALTER TABLE users SET (fillfactor = 70), DISABLE TRIGGER t"), "SHARE ROW EXCLUSIVE");
  EXPECT_EQ(lock_in("ALTER TABLE users SET (fillfactor = 70), ADD COLUMN a text"), "ACCESS EXCLUSIVE");
  EXPECT_EQ(lock_in("WITH a AS (SELECT 1 FROM t) UPDATE users SET b = 1"), "ROW EXCLUSIVE");
  EXPECT_EQ(lock_in("WITH a AS (UPDATE users SET b = 1 RETURNING b) SELECT * FROM a"), "ROW EXCLUSIVE");
  EXPECT_EQ(lock_in("SELECT (SELECT max(id) FROM users) FROM (SELECT 1 FROM t FOR SHARE) u"), "ROW SHARE");
  EXPECT_EQ(lock_in("EXPLAIN DELETE FROM users"), "ROW EXCLUSIVE");
  EXPECT_EQ(lock_in("SELECT 1"), "");
  EXPECT_EQ(lock_in("WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT * FROM n"), "");
}

TEST(LockLevel, WhatTheExpansionMakesIsInNobodysWay) {
  const TableNames own = {"public.fresh"};
  for (const char* sql :
       {"ALTER TABLE fresh ADD COLUMN a text", "CREATE INDEX i ON public.fresh (a)", "DROP TABLE fresh",
        "INSERT INTO FRESH VALUES (1)", "COMMENT ON COLUMN fresh.a IS 'x'", "TRUNCATE fresh",
        "COMMENT ON TABLE fresh IS 'x'", "CREATE TRIGGER t BEFORE UPDATE ON fresh EXECUTE FUNCTION f()",
        "ALTER TABLE fresh ADD FOREIGN KEY (a) REFERENCES fresh (id)", "SELECT a FROM fresh", "DROP TRIGGER t ON fresh",
        "ANALYZE fresh", "CREATE TABLE again (id int REFERENCES fresh (id), up int REFERENCES again (id))"}) {
    EXPECT_EQ(lock_in(sql, own), "") << sql;
  }
  EXPECT_EQ(lock_in("INSERT INTO fresh SELECT id FROM users", own), "ACCESS SHARE");
  EXPECT_EQ(lock_in("ALTER TABLE fresh ADD FOREIGN KEY (a) REFERENCES users (id)", own), "SHARE ROW EXCLUSIVE");
  EXPECT_EQ(lock_in("ALTER TABLE parts ATTACH PARTITION fresh DEFAULT", own), "SHARE UPDATE EXCLUSIVE");
  EXPECT_EQ(lock_in("DROP TABLE fresh, users", own), "ACCESS EXCLUSIVE");
  EXPECT_EQ(lock_in("COMMENT ON COLUMN app.users.a IS 'x'", own), "SHARE UPDATE EXCLUSIVE");
  EXPECT_EQ(lock_in("ALTER TABLE app.fresh ADD COLUMN a text", own), "ACCESS EXCLUSIVE") << "another schema's";
  EXPECT_EQ(lock_in("ALTER TABLE \"Fresh\" ADD COLUMN a text", own), "ACCESS EXCLUSIVE") << "another name";
}

TEST(LockLevel, IsNotKnownOfABlock) {
  EXPECT_EQ(lock_in("DO $$ BEGIN END $$"), "unknown");
  EXPECT_EQ(lock_in("CALL tidy()"), "unknown");
}

}  // namespace lock_level_test
}  // namespace sluice::migrate
