// Tests of lexer in CEL.
#include "render/cel/lexer.h"

#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::lexer_test {
namespace {

using CelLexer = CelTest;

TEST_F(CelLexer, WordsOfALine) {
  const auto words = *words_of("a.`b-c` >= 0x1F u'x' // the rest");
  std::vector<std::string> texts;
  for (const auto& word : words) texts.push_back(word.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"a", ".", "b-c", ">=", "0x1F", "u", "x", ""}));
}

TEST_F(CelLexer, EscapesAreChecked) {
  EXPECT_EQ((*words_of(R"('\x41\u00e9\101')"))[0].text, "A\u00e9A");
  EXPECT_EQ((*words_of(R"(r'\x41')"))[0].text, "\\x41");
  for (const auto* text : {R"('\q')", R"('\u12')", R"('\ud800')", R"(b'\u0041')", "'a\nb'", "1abc", "`a`b`", "``"}) {
    EXPECT_FALSE(words_of(text)) << text;
  }
}

}  // namespace
}  // namespace sluice::cel::lexer_test
