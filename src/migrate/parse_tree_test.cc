// What is read out of PostgreSQL's own parse trees, and what is refused before or by its grammar.
#include "migrate/parse_tree.h"

#include <gtest/gtest.h>

#include <thread>

namespace sluice::migrate {
namespace parse_tree_test {

std::string refused(const std::string& sql) {
  auto tree = parse_postgres(sql);
  if (tree) return "parsed as " + tree->kind;
  return to_string(tree.error());
}

TEST(ParseTree, KnowsKindsAndNames) {
  auto tree = parse_postgres("ALTER TABLE ONLY App.\"User List\" DROP COLUMN name");
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->kind, "AlterTableStmt");
  EXPECT_EQ(table_of(field_of(tree->node, "relation")), "app.User List");
  const json::array& commands = items_in(tree->node, "cmds");
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(text_in(fields_of(commands[0]), "subtype"), "AT_DropColumn");
  EXPECT_EQ(text_in(fields_of(commands[0]), "name"), "name");
  EXPECT_FALSE(is_set(tree->node, "missing_ok"));
  EXPECT_TRUE(field_of(tree->node, "nothing").is_null());
  EXPECT_TRUE(items_in(tree->node, "nothing").empty());
}

TEST(ParseTree, NamesWhatItCannotParseByItsPlace) {
  EXPECT_EQ(refused("SELCT 1"), "1:1: syntax error at or near \"SELCT\"");
  EXPECT_EQ(refused("ALTER TABLE users\n  ADD COLUM name text"), "2:18: syntax error at or near \"text\"");
  EXPECT_EQ(refused("SELECT 'Zoë', FROM x"), "1:15: syntax error at or near \"FROM\"");
  EXPECT_EQ(refused("SELECT (1"), "1:10: syntax error at end of input");
}

TEST(ParseTree, RefusesWhatIsNestedTooDeeply) {
  std::string sum = "SELECT 1";
  for (int i = 0; i < 100'000; ++i) sum += " + 1";
  EXPECT_EQ(refused(sum), "1:1: it is nested too deeply to be looked at");
  EXPECT_EQ(refused("SELECT " + std::string(100'000, '(')), "1:1: it is nested too deeply to be looked at");
  std::string rows = "INSERT INTO t VALUES (0, -1)";
  for (int i = 0; i < 20'000; ++i) rows += ", (" + std::to_string(i) + ", -1)";
  EXPECT_EQ(refused(rows), "parsed as InsertStmt") << "what is long is not deep";
}

TEST(ParseTree, IsParsedByManyThreads) {
  std::vector<std::thread> threads;
  std::vector<int> parsed(8);
  for (int& mine : parsed) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 200; ++i) mine += parse_postgres("CREATE TABLE t (id int)") && !parse_postgres("CREATE t");
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(parsed, std::vector<int>(8, 200));
}

}  // namespace parse_tree_test
}  // namespace sluice::migrate
