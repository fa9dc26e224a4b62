// Files are cut into the statements that the databases would see.
#include "migrate/sql_text.h"

#include <gtest/gtest.h>

namespace sluice::migrate {
namespace sql_text_test {

std::vector<std::string> texts(Engine engine, const std::string& file) {
  auto statements = split_statements(engine, file, "x.sql");
  EXPECT_TRUE(statements) << statements.error().message;
  std::vector<std::string> all;
  for (const Statement& each : *statements) all.push_back(each.text);
  return all;
}

using Texts = std::vector<std::string>;

TEST(SqlText, CutsAtSemicolonsOutsideOfQuotes) {
  EXPECT_EQ(texts(Engine::sqlite, "SELECT 1; ;SELECT ';''';\n-- a; b\nSELECT \"a;b\", [c;d], `e;f` /* ; */;"),
            (Texts{"SELECT 1", "SELECT ';'''", "SELECT \"a;b\", [c;d], `e;f` /* ; */"}));
  EXPECT_EQ(texts(Engine::postgres, "SELECT E'\\';'; SELECT $$a;b$$; SELECT $x$;$$;$x$; /* /* ; */ ; */ SELECT $1;"),
            (Texts{"SELECT E'\\';'", "SELECT $$a;b$$", "SELECT $x$;$$;$x$", "SELECT $1"}));
}

TEST(SqlText, KeepsBodiesTogether) {
  const std::string trigger =
      "CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET x = CASE WHEN 1 THEN 2 END; SELECT 1; END";
  EXPECT_EQ(texts(Engine::sqlite, trigger + "; SELECT 2"), (Texts{trigger, "SELECT 2"}));
  const std::string function =
      "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END";
  EXPECT_EQ(texts(Engine::postgres, function + ";SELECT 3;"), (Texts{function, "SELECT 3"}));
}

TEST(SqlText, KnowsLinesFirstWordsAndComments) {
  auto statements = split_statements(
      Engine::postgres,
      "-- one\n-- two\n\ncreate /* x */ unique\n index concurrently if not exists i ON t (a);\nSELECT 1", "");
  ASSERT_TRUE(statements);
  ASSERT_EQ(statements->size(), 2U);
  EXPECT_EQ(statements->front().line, 4U);
  EXPECT_EQ(statements->front().first, "CREATE UNIQUE INDEX CONCURRENTLY IF NOT");
  EXPECT_EQ(statements->front().last_comment, "-- one\n-- two\n");
  EXPECT_EQ(statements->back().line, 6U);
}

TEST(SqlText, NamesTheLineOfWhatIsNotClosed) {
  auto statements = split_statements(Engine::postgres, "SELECT 1;\nSELECT 'a\n\n", "x.sql");
  ASSERT_FALSE(statements);
  EXPECT_EQ(to_string(statements.error()), "x.sql:2:1: a quote is not closed");
  EXPECT_FALSE(split_statements(Engine::postgres, "SELECT $a$ $b$", ""));
  EXPECT_FALSE(split_statements(Engine::sqlite, "/* ", ""));
}

TEST(SqlText, ReadsNames) {
  EXPECT_EQ(*parse_name(Engine::postgres, "App.Users"), (Texts{"app", "users"}));
  EXPECT_EQ(*parse_name(Engine::sqlite, "Users"), (Texts{"Users"}));
  EXPECT_EQ(*parse_name(Engine::postgres, "\"User \"\"List\"\"\".x"), (Texts{"User \"List\"", "x"}));
  EXPECT_EQ(quoted_name(Texts{"a", "b\"c"}), "\"a\".\"b\"\"c\"");
  for (const char* text : {"", "a.", "a b", "\"a", "a.b.c", "a;b"})
    EXPECT_FALSE(parse_name(Engine::postgres, text)) << text;
}

}  // namespace sql_text_test
}  // namespace sluice::migrate
