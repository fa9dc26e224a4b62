// A rule that cannot work is refused before anything is made of it.
#include <gtest/gtest.h>

#include "migrate/copying.h"
#include "migrate/testing_database.h"

namespace sluice::migrate {
namespace copying_lookup_test {

TEST(CopyingLookup, RefusesACopyThatCannotWork) {
  const std::string yaml[] = {
      "copy: [{table: lost, key: [id], forward: {b: a}}]", "copy: [{table: t, key: [a], forward: {b: a}}]",
      "copy: [{table: t, key: [id], forward: {c: a}}]", "copy: [{table: t, key: [id], forward: {b: lost_one(a)}}]",
      "copy: [{table: t, key: [id], forward: {n: a}}]"};
  const std::string said[] = {
      "there is no table \"lost\"", "(\"a\") is no unique key of \"t\" that is never NULL", "\"t\" has no column \"c\"",
      "the copy of \"t\" cannot work: no such function: lost_one",
      "the default of \"n\" of \"t\" is computed (random()), so nobody could tell a row that was "
      "written from one that was not"};
  for (size_t i = 0; i < std::size(yaml); ++i) {
    SCOPED_TRACE(yaml[i]);
    auto migrations = read_migrations(
        Engine::sqlite,
        {{"0001_a/expand.sql", "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT, n DEFAULT (random()))"},
         {"0001_a/migration.yaml", yaml[i]}});
    ASSERT_TRUE(migrations) << migrations.error().message;
    TestingDatabase database;
    Runner runner = database.runner(*migrations);
    ASSERT_TRUE(runner.expand(1));
    auto refused = runner.expand(1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_EQ(refused.error().message, said[i]);
    ASSERT_TRUE(runner.undo(1));
    EXPECT_EQ(database.rows("SELECT name FROM sqlite_schema WHERE name = 't'"), "");
  }
}

}  // namespace copying_lookup_test
}  // namespace sluice::migrate
