// How faults are shown.
#include "lang/diagnostic.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice::lang {
namespace {

Diagnostic fault(uint32_t line, uint32_t column, uint32_t length, std::string text, std::string hint = "") {
  return {.file = "a.sync", .mark = {line, column}, .length = length, .text = text, .hint = hint, .rule = "syntax"};
}

TEST(Diagnostic, ShowsPlaceSourceCaretAndHint) {
  EXPECT_EQ(render(fault(2, 3, 4, "unknown word", "write `word`"), "one\n  worx here\n"),
            "a.sync:2:3: error: unknown word\n"
            "    worx here\n"
            "    ^^^^\n"
            "  hint: write `word`\n");
}

TEST(Diagnostic, TheCaretStandsRightBehindTabsAndWideCharacters) {
  EXPECT_EQ(render(fault(1, 3, 1, "x"), "\t漢b\r\n"),
            "a.sync:1:3: error: x\n"
            "  \t漢b\n"
            "  \t  ^\n");
}

TEST(Diagnostic, TheCaretMayStandBehindTheLine) {
  EXPECT_EQ(render(fault(1, 4, 1, "x"), "abc"), "a.sync:1:4: error: x\n  abc\n     ^\n");
}

TEST(Diagnostic, ShowsNoControlCharacters) {
  EXPECT_EQ(render(fault(1, 1, 1, "x"), "a\x1b\xE2\x80\xAE\xff"),
            "a.sync:1:1: error: x\n  a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\n  ^\n");
}

TEST(Diagnostic, LeavesOutVeryLongLines) {
  EXPECT_EQ(render(fault(1, 1, 1, "x"), std::string(1000, 'a')), "a.sync:1:1: error: x\n");
}

TEST(Diagnostic, WholeFilesHaveNoPlace) {
  EXPECT_EQ(render(fault(0, 0, 1, "too large"), "abc"), "a.sync: error: too large\n");
}

TEST(Diagnostic, AreShownInOrderOfPlace) {
  Diagnostics found;
  found.add(fault(2, 1, 1, "second"));
  found.add({.severity = Diagnostic::Severity::warning, .file = "a.sync", .mark = {1, 2}, .text = "first"});
  EXPECT_EQ(render(found, ""), "a.sync:1:2: warning: first\na.sync:2:1: error: second\n");
  EXPECT_EQ(found.errors(), 1u);
}

TEST(Diagnostic, KeepsOnlyTheFirstErrorsAndCountsTheRest) {
  Diagnostics found;
  for (int i = 0; i < 150; ++i) found.add(fault(1, 1, 1, "x"));
  EXPECT_EQ(found.errors(), 150u);
  EXPECT_EQ(found.all().size(), 100u);
  EXPECT_TRUE(render(found, "").ends_with("\n50 further errors are not shown\n"));
}

TEST(Diagnostic, HasAJsonForm) {
  EXPECT_EQ(
      json::serialize(to_json(fault(2, 3, 4, "t", "h"))),
      R"({"severity":"error","file":"a.sync","line":2,"column":3,"length":4,"text":"t","hint":"h","rule":"syntax"})");
}

TEST(Diagnostic, BecomesAnError) {
  Diagnostics found;
  found.add({.severity = Diagnostic::Severity::warning, .file = "a.sync", .mark = {1, 2}, .text = "w"});
  found.add(fault(2, 3, 1, "t", "h"));
  Error error = to_error(found);
  EXPECT_EQ(to_string(error), "a.sync:2:3: t");
  EXPECT_EQ(error.next, "h");
  EXPECT_EQ(error.code, Code::invalid);
}

}  // namespace
}  // namespace sluice::lang
