// How faults are shown.
#include "lang/syntax/diagnostic.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice::lang {
namespace diagnostic_test {

Diagnostic fault(uint32_t line, uint32_t column, uint32_t length, const std::string& text,
                 const std::string& hint = "") {
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
  EXPECT_EQ(render(fault(2, 1, 1, "x"), "abc\n"), "a.sync:2:1: error: x\n  \n  ^\n");
}

TEST(Diagnostic, ShowsControlAndBidiCharactersAsEscapes) {
  EXPECT_EQ(render(fault(1, 6, 1, "x"), std::string_view("a\x1b\xE2\x80\xAE\0\xff=1", 9)),
            "a.sync:1:6: error: x\n  a\\u{1B}\\u{202E}\\u{00}\\xFF=1\n                           ^\n");
  EXPECT_EQ(render(fault(1, 2, 1, "x"), "a\x01"), "a.sync:1:2: error: x\n  a\\u{01}\n   ^^^^^^\n");
}

TEST(Diagnostic, ShowsLongLinesAroundTheCaret) {
  std::string source(500, 'a');
  source.append(1, '!').append(1'000'000, 'b');
  EXPECT_EQ(render(fault(1, 501, 1, "x"), source), "a.sync:1:501: error: x\n  …" + std::string(60, 'a') + "!" +
                                                       std::string(99, 'b') + "…\n   " + std::string(60, ' ') + "^\n");
  EXPECT_EQ(render(fault(1, 1, 1'000'000, "x"), std::string(1'000'000, 'b')),
            "a.sync:1:1: error: x\n  " + std::string(100, 'b') + "…\n  " + std::string(100, '^') + "\n");
  EXPECT_EQ(render(fault(1, 451, 1, "x"), std::string(450, 'b')),
            "a.sync:1:451: error: x\n  …" + std::string(60, 'b') + "\n   " + std::string(60, ' ') + "^\n");
}

TEST(Diagnostic, OfAnUnreadableFileStandsAtItsFirstLine) {
  EXPECT_EQ(
      render(unreadable("k/suite.yaml", {.code = Code::invalid, .message = "k/suite.yaml is not a regular file"}), ""),
      "k/suite.yaml:1:1: error: k/suite.yaml is not a regular file\n  hint: name a text file that can be read\n");
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
      json::serialize(json_of(fault(2, 3, 4, "t", "h"))),
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

TEST(Diagnostic, ShowsWhatCannotBeSeenAsAnEscape) {
  EXPECT_EQ(render(fault(1, 2, 1, "t"), "A\xE2\x80\x8D {"), "a.sync:1:2: error: t\n  A\\u{200D} {\n   ^^^^^^^^\n");
}

TEST(Diagnostic, CountsWhatIsLeftOutOfEachFile) {
  Diagnostics all, one;
  Diagnostic warning = fault(1, 1, 1, "w");
  warning.severity = Diagnostic::Severity::warning;
  for (int i = 0; i < 101; ++i) one.add(warning);
  all.add(one);
  all.add(fault(1, 1, 1, "x"));
  EXPECT_EQ(all.all().size(), 101u);
  EXPECT_EQ(all.warnings(), 101u);
  EXPECT_EQ(all.rest(), "1 further warning is not shown");
}

}  // namespace diagnostic_test
}  // namespace sluice::lang
