// Ignore files mean what .gitignore means.
#include "bundle/manifest/ignore.h"

#include <gtest/gtest.h>

namespace sluice::bundle {
namespace ignore_test {

// "ignored", "kept" by a line with "!", or "" if no line matches.
std::string verdict(std::string_view rules, std::string_view path, bool is_folder = false) {
  auto parsed = IgnoreRules::parse(rules);
  if (!parsed) return parsed.error().message;
  auto match = parsed->match(path, is_folder);
  return !match ? "" : match->ignored ? "ignored" : "kept";
}

TEST(Ignore, NamesWithoutASlashMatchAtAnyDepth) {
  EXPECT_EQ(verdict("*.log", "a.log"), "ignored");
  EXPECT_EQ(verdict("*.log", "a/b/c.log"), "ignored");
  EXPECT_EQ(verdict("*.log", "a.txt"), "");
}

TEST(Ignore, PatternsWithASlashBeginAtTheFolder) {
  EXPECT_EQ(verdict("/dist", "dist"), "ignored");
  EXPECT_EQ(verdict("/dist", "a/dist"), "");
  EXPECT_EQ(verdict("a/b", "a/b"), "ignored");
  EXPECT_EQ(verdict("a/b", "x/a/b"), "");
  EXPECT_EQ(verdict("**/b", "x/a/b"), "ignored");
}

TEST(Ignore, ASlashAtTheEndMeansFolders) {
  EXPECT_EQ(verdict("cache/", "cache", true), "ignored");
  EXPECT_EQ(verdict("cache/", "cache", false), "");
  EXPECT_EQ(verdict("cache/", "a/cache", true), "ignored");
}

TEST(Ignore, StarsAtTheEndMeanWhatIsInside) {
  EXPECT_EQ(verdict("cache/**", "cache", true), "");
  EXPECT_EQ(verdict("cache/**", "cache/x"), "ignored");
  EXPECT_EQ(verdict("cache/**", "cache/x/y"), "ignored");
}

TEST(Ignore, TheLastLineThatMatchesDecides) {
  EXPECT_EQ(verdict("*.log\n!keep.log", "keep.log"), "kept");
  EXPECT_EQ(verdict("!keep.log\n*.log", "keep.log"), "ignored");
  auto parsed = IgnoreRules::parse("# one\n\n*.log\n");
  EXPECT_EQ(parsed->match("x.log", false)->line, 3u);
}

TEST(Ignore, CommentsBlanksAndEscapes) {
  EXPECT_EQ(verdict("# *.log", "a.log"), "");
  EXPECT_EQ(verdict("\\#x", "#x"), "ignored");
  EXPECT_EQ(verdict("\\!x", "!x"), "ignored");
  EXPECT_EQ(verdict("x   ", "x"), "ignored");
  EXPECT_EQ(verdict("x\\ ", "x "), "ignored");
  EXPECT_EQ(verdict("x\r\ny\r\n", "y"), "ignored");
  EXPECT_EQ(verdict("\xEF\xBB\xBFx", "x"), "ignored");
  EXPECT_EQ(verdict("/\n!\n", "x"), "");
}

TEST(Ignore, RefusesWhatNobodyWrites) {
  EXPECT_EQ(
      IgnoreRules::parse("fine\n\xff").error(),
      (Error{.code = Code::invalid, .message = "the line is not UTF-8", .position = Position{".sluiceignore", 2, 1}}));
  EXPECT_EQ(IgnoreRules::parse(std::string(5000, 'x')).error().message, "a line is longer than 4096 bytes");
  EXPECT_EQ(IgnoreRules::parse(std::string(20'000, '\n')).error().message, "more than 10000 lines");
}

}  // namespace ignore_test
}  // namespace sluice::bundle
