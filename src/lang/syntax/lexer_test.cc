// Tokens, comments, prose and templates.
#include "lang/syntax/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice::lang {
namespace lexer_test {

using testing::ElementsAre;
using testing::FieldsAre;

// All tokens up to the end, as `line:column text`; a bad one as `line:column ! what | hint`.
std::vector<std::string> tokens(std::string_view text) {
  Lexer lexer(text);
  std::vector<std::string> all;
  for (Token token = lexer.next(); token.kind != Token::Kind::end; token = lexer.next()) {
    std::string place = std::to_string(token.at.line) + ":" + std::to_string(token.at.column) + " ";
    bool number = token.value.is_number();
    bool bad = token.kind == Token::Kind::bad;
    all.push_back(place + (bad ? "! " : "") + (number ? json::serialize(token.value) : token.text) +
                  (token.hint.empty() ? "" : " | " + token.hint));
  }
  return all;
}

TEST(Lexer, EveryTokenKnowsItsPlaceInCodePoints) {
  EXPECT_THAT(tokens("\xEF\xBB\xBF\"漢é\" x\r\n\t?y"), ElementsAre("1:1 漢é", "1:6 x", "2:2 y"));
}

TEST(Lexer, ReadsNumbersWithTheirSign) {
  EXPECT_THAT(tokens("-5 0.5 -1.5e3 7 90s 2h"),
              ElementsAre("1:1 -5", "1:4 5E-1", "1:8 -1.5E3", "1:15 7", "1:17 90", "1:21 7200"));
  EXPECT_THAT(tokens("9223372036854775808"), ElementsAre("1:1 ! the number is too large | whole numbers have 64 bits"));
  EXPECT_THAT(tokens("1e999"), ElementsAre("1:1 ! the number is too large | numbers go up to 1.7e308"));
  EXPECT_THAT(tokens("5x"), ElementsAre("1:1 ! a number may not run into letters | durations are whole numbers with "
                                        "s, m, h or d: `90s`"));
}

TEST(Lexer, ReadsOperators) {
  EXPECT_THAT(tokens("!= <= >= < > = => -> |"),
              ElementsAre("1:1 !=", "1:4 <=", "1:7 >=", "1:10 <", "1:12 >", "1:14 =", "1:16 =>", "1:19 ->", "1:22 |"));
}

TEST(Lexer, AnUnknownCharacterIsAnErrorNeverSkipped) {
  EXPECT_THAT(
      tokens("a + b"),
      ElementsAre("1:1 a",
                  "1:3 ! unexpected `+` | there is no arithmetic: a concept keeps its own totals and returns them",
                  "1:5 b"));
  EXPECT_THAT(tokens("é"), ElementsAre("1:1 ! unexpected character `é` | remove it; text stands in double quotes"));
  EXPECT_THAT(tokens("? x"), ElementsAre("1:1 ! unexpected character `?` | a variable is `?name`", "1:3 x"));
  EXPECT_THAT(tokens("a == b"), ElementsAre("1:1 a", "1:3 ! unexpected `==` | write `=` to compare", "1:6 b"));
  EXPECT_THAT(tokens("!a"), ElementsAre("1:1 ! unexpected `!` | write `!=` or `not`", "1:2 a"));
}

TEST(Lexer, UndoesEscapes) {
  EXPECT_THAT(tokens(R"("a\n\t\"\\\r\{")"), ElementsAre("1:1 a\n\t\"\\\r{"));
  EXPECT_THAT(tokens(R"("\u00e9\u{1F600}\ud83d\ude00")"), ElementsAre("1:1 é😀😀"));
}

TEST(Lexer, RefusesUnknownEscapesAndOpenStrings) {
  EXPECT_THAT(tokens(R"("a\qb")"),
              ElementsAre(R"(1:1 ! unknown escape \q | the escapes are \n \t \r \" \\ \{ and \u{…})"));
  for (const char* malformed : {R"("\u12")", R"("\u{}")", R"("\u{110000}")", R"("\ud800x")", R"("\udc00")"}) {
    EXPECT_THAT(tokens(malformed), ElementsAre(R"(1:1 ! a malformed \u escape | write \u{1F600} or \u00e9)"));
  }
  EXPECT_EQ(tokens("\"a\nb\"")[0], "1:1 ! unterminated string | close it with \" on the same line");
  EXPECT_EQ(tokens("\"a\\")[0], "1:1 ! unterminated string | close it with \" on the same line");
}

TEST(Lexer, BoundsNames) {
  EXPECT_THAT(tokens(std::string(256, 'a')), ElementsAre("1:1 " + std::string(256, 'a')));
  EXPECT_THAT(tokens(std::string(1 << 20, 'a')),
              ElementsAre("1:1 ! a name of 1048576 characters; names may have 256 | choose a shorter name"));
}

TEST(Lexer, KeepsCommentsWithTheirPlace) {
  Lexer lexer("# one\nx {  // two\n  y [ \n#three\n ]\n  #\n}\n# at the end");
  while (lexer.next().kind != Token::Kind::end) {
  }
  auto comments = lexer.take_comments();
  ASSERT_EQ(comments.size(), 5u);
  EXPECT_EQ(comments[0].text, "one");
  EXPECT_TRUE(comments[0].own_line);
  EXPECT_FALSE(comments[0].closes);
  EXPECT_EQ(comments[1].text, "two");
  EXPECT_FALSE(comments[1].own_line);
  EXPECT_EQ(comments[1].depth, 1u);
  EXPECT_EQ(comments[2].text, "three");
  EXPECT_TRUE(comments[2].inside);
  EXPECT_TRUE(comments[3].closes);
  EXPECT_EQ(comments[4].text, "at the end");
}

TEST(Lexer, ProseIsFreeTextUpToItsBrace) {
  Lexer lexer("{ it's  a\n \"text -> {nested} # no comment }x");
  lexer.next();
  EXPECT_EQ(lexer.prose(), "it's a \"text -> {nested} # no comment");
  EXPECT_EQ(lexer.next().text, "x");
  Lexer open("{ never closed {} ");
  open.next();
  EXPECT_FALSE(open.prose());
}

TEST(Lexer, SplitsTemplates) {
  auto split = [](std::string_view text) {
    Token token = Lexer(text).next();
    return split_template(token);
  };
  auto whole = split(R"("a\n{{ ?x }}{{y.z}} \{{b}} end")");
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->parts, ElementsAre("a\n", "", " {{b}} end"));
  EXPECT_THAT(whole->holes, ElementsAre(FieldsAre("x", 8), FieldsAre("y.z", 14)));
  for (const char* malformed : {"\"{{\"", "\"{{}}\"", "\"{{a b}}\"", "\"{{a.}}\"", "\"{{.a}}\"", "\"{{1}}\""}) {
    EXPECT_FALSE(split(malformed)) << malformed;
  }
}

}  // namespace lexer_test
}  // namespace sluice::lang
