// What was changed by hand is named, and only what was added can be undone.
#include "migrate/schema.h"

#include <gtest/gtest.h>

#include "migrate/testing_database.h"

namespace sluice::migrate {
namespace schema_test {

TEST(Schema, NamesWhatWasChangedByHand) {
  TestingDatabase database;
  Migrations migrations = split_names();
  database.run("CREATE TABLE old(a); CREATE INDEX i ON old(a);");
  database.expand(migrations, 1);
  EXPECT_TRUE(drift(database.database())->empty());
  database.run(
      "CREATE TABLE fresh(a, b); ALTER TABLE users ADD COLUMN age INTEGER; DROP TABLE old; "
      "CREATE INDEX by_last ON users(last); CREATE VIEW v AS SELECT 1;");
  std::string lines;
  auto found = drift(database.database());
  ASSERT_TRUE(found);
  for (const Difference& each : *found) lines += to_line(each) + "\n";
  EXPECT_EQ(lines,
            "+ column \"users\".\"age\"\n+ index \"by_last\"\n+ table \"fresh\"\n- table \"old\"\n+ view \"v\"\n");
}

TEST(Schema, SurvivesItsText) {
  TestingDatabase database;
  database.run("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT DEFAULT 'x' NOT NULL); CREATE VIEW v AS SELECT a FROM t;");
  auto schema = describe_schema(database.database());
  ASSERT_TRUE(schema) << schema.error().message;
  auto again = schema_from_json(schema_to_json(*schema));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, *schema);
  EXPECT_EQ(fingerprint(*again), fingerprint(*schema));
}

TEST(Schema, UndoesOnlyWhatWasAdded) {
  const SchemaObject table{"table", "\"t\"", "", ""}, column{"column", "\"t\".\"a\"", "TEXT", "\"t\""};
  const Schema before = {column, table};
  Schema after = {
      column, {"column", "\"t\".\"b\"", "TEXT", "\"t\""}, {"index", "\"i\"", "CREATE INDEX i ON t(b)", "\"t\""}, table};
  auto statements = undoing(Engine::sqlite, before, after);
  ASSERT_TRUE(statements) << statements.error().message;
  EXPECT_EQ(*statements, (std::vector<std::string>{"DROP INDEX \"i\"", "ALTER TABLE \"t\" DROP COLUMN \"b\""}));
  after[0].definition = "INTEGER";
  auto refused = undoing(Engine::sqlite, before, after);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "it cannot be undone: column \"t\".\"a\" is another one than before");
}

}  // namespace schema_test
}  // namespace sluice::migrate
