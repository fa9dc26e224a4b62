// Escapes, broken UTF-8, and each of ECMAScript's layouts of a number.
#include "base/json_text.h"

#include <gtest/gtest.h>

namespace sluice {
namespace json_text_test {

std::string number_of(double number) {
  TextBuffer out;
  append_json_number(out, number);
  return std::string(out.view());
}

TEST(JsonText, BufferGrowsAndKeepsItsText) {
  TextBuffer out;
  std::string expected;
  for (int i = 0; i < 3000; ++i) {
    out.append("ab");
    out.append('c');
    out.append(2, 'd');
    expected += "abcdd";
  }
  char* room = out.room(5000);
  std::memset(room, 'e', 5000);
  out.advance_to(room + 4000);
  EXPECT_EQ(out.view(), expected + std::string(4000, 'e'));
  EXPECT_EQ(out.size(), 19000U);
}

TEST(JsonText, FindsWhatNeedsCareAtEveryPlaceInAWord) {
  for (size_t at = 0; at < 17; ++at) {
    for (auto [c, escape] : {std::pair<char, std::string>{'"', "\\\""}, {'\\', "\\\\"}, {'\x1F', "\\u001f"}}) {
      std::string text(17, '!');
      text[at] = c;
      std::string expected = "\"" + std::string(at, '!') + escape + std::string(16 - at, '!') + "\"";
      EXPECT_EQ(json_quoted(text), expected);
    }
  }
}

TEST(JsonText, EscapesQuoteBackslashAndControlCharactersOnly) {
  EXPECT_EQ(json_quoted("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(json_quoted("\b\t\n\f\r"), R"("\b\t\n\f\r")");
  EXPECT_EQ(json_quoted(std::string_view("\0\x1F\x7F", 3)), "\"\\u0000\\u001f\x7F\"");
  EXPECT_EQ(json_quoted("\u00e9\u20ac\U0001F600"), "\"\u00e9\u20ac\U0001F600\"");
  EXPECT_EQ(json_quoted(""), "\"\"");
}

TEST(JsonText, ReplacesEachByteThatIsNotUtf8AndSaysSo) {
  struct Row {
    std::string_view text;
    size_t replaced;
  };
  constexpr Row kRows[] = {
      {"\x80", 1},              // a tail without its lead
      {"\xC3", 1},              // a lead without its tail
      {"\xC0\x80", 2},          // overlong
      {"\xE0\x80\x80", 3},      // overlong
      {"\xF0\x80\x80\x80", 4},  // overlong
      {"\xED\xA0\x80", 3},      // a surrogate
      {"\xF4\x90\x80\x80", 4},  // past U+10FFFF
      {"\xF5\x80\x80\x80", 4},  // no such lead
      {"\xE2\x82", 2},          // cut off
      {"\xF0\x9F\x98", 3},      // cut off
  };
  for (const Row& row : kRows) {
    TextBuffer out;
    EXPECT_FALSE(append_json_string(out, row.text));
    std::string expected = "\"";
    for (size_t i = 0; i < row.replaced; ++i) expected += "\uFFFD";
    EXPECT_EQ(out.view(), expected + "\"");
  }
  TextBuffer out;
  EXPECT_TRUE(append_json_string(out, "\uD7FF\uE000\uFFFF\U00010000\U0010FFFF\u0080\u07FF\u0800"));
}

TEST(JsonText, LaysNumbersOutAsEcmaScriptDoes) {
  EXPECT_EQ(number_of(0.0), "0");
  EXPECT_EQ(number_of(-0.0), "0");
  EXPECT_EQ(number_of(1), "1");
  EXPECT_EQ(number_of(-120), "-120");
  EXPECT_EQ(number_of(123456789012345680000.0), "123456789012345680000");
  EXPECT_EQ(number_of(1e21), "1e+21");
  EXPECT_EQ(number_of(1.25e21), "1.25e+21");
  EXPECT_EQ(number_of(123.456), "123.456");
  EXPECT_EQ(number_of(0.5), "0.5");
  EXPECT_EQ(number_of(0.000001), "0.000001");
  EXPECT_EQ(number_of(0.0000001), "1e-7");
  EXPECT_EQ(number_of(-1.5e-10), "-1.5e-10");
  EXPECT_EQ(number_of(1e100), "1e+100");
}

}  // namespace json_text_test
}  // namespace sluice
