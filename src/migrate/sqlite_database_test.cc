// SQLite's values are text, and its failures say what a caller can do.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing_folder.h"
#include "migrate/database.h"
#include "migrate/testing_database.h"

namespace sluice::migrate {
namespace sqlite_database_test {

TEST(SqliteDatabase, ReadsAndWritesText) {
  TestingDatabase testing;
  Database& database = testing.database();
  testing.run("CREATE TABLE t(a INTEGER, b TEXT);");
  ASSERT_TRUE(database.run("INSERT INTO t VALUES ($2, $1), ($2 + 1, NULL)", {"it's", "7"}));
  EXPECT_EQ(database.changed(), 2);
  auto rows = database.query("SELECT a, b FROM t ORDER BY a");
  ASSERT_TRUE(rows);
  EXPECT_EQ(*rows, (Rows{{"7", "it's"}, {"8", std::nullopt}}));
  EXPECT_EQ(*database.value("SELECT a FROM t WHERE a = 9"), std::nullopt);
}

TEST(SqliteDatabase, SaysWhatACallerCanDo) {
  TestingDatabase testing;
  auto refused = testing.database().run("SELECT nothing_of_this");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::failed);
  auto other = testing.connection();
  auto holding = Transaction::begin(*other);
  ASSERT_TRUE(holding);
  auto waiting = Transaction::begin(testing.database());
  ASSERT_FALSE(waiting);
  EXPECT_EQ(waiting.error().code, Code::conflict);
  EXPECT_EQ(open_sqlite("/nowhere/app.db").error().code, Code::unavailable);
}

TEST(SqliteDatabase, IsNotLedElsewhereByALink) {
  TestingFolder folder;
  const std::string real = std::filesystem::canonical(folder.path()).string() + "/real.db";
  ASSERT_TRUE(open_sqlite(real, true, false));
  std::filesystem::create_symlink(real, real + ".link");
  EXPECT_EQ(open_sqlite(real + ".link", false, false).error().code, Code::unavailable);
  EXPECT_TRUE(open_sqlite(real + ".link"));
}

}  // namespace sqlite_database_test
}  // namespace sluice::migrate
