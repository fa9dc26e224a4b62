// Which characters a text may have, and where the first is that it may not.
#include "base/yaml_text.h"

#include <gtest/gtest.h>

namespace sluice {
namespace yaml_text_test {

using namespace std::string_literals;

// "position: message | next"
std::string refusal(const std::string& text) {
  auto bad = check_yaml_text(text, "x.yaml");
  if (!bad) return "no error";
  EXPECT_EQ(bad->code, Code::invalid);
  return to_string(*bad) + " | " + bad->next;
}

TEST(YamlText, RefusesBytesThatAreNotUtf8) {
  const std::string utf8 = " | save the file as UTF-8";
  for (const char* bytes : {"\x80", "\xC3", "\xC3(", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE0\x80\x80",
                            "\xF0\x80\x80\x80", "\xFF", "\xE2\x82"}) {
    EXPECT_EQ(refusal("a: 1\nä: "s + bytes), "x.yaml:2:4: the text is not UTF-8 from here on" + utf8);
  }
  EXPECT_EQ(refusal("\xFF\xFE"
                    "a\0:\0"s),
            "x.yaml:1:1: the text is UTF-16, not UTF-8" + utf8);
  EXPECT_EQ(refusal("\xFE\xFF\0a"s), "x.yaml:1:1: the text is UTF-16, not UTF-8" + utf8);
}

TEST(YamlText, RefusesCharactersThatYamlDoesNotAllow) {
  const std::string next = " | write it as an escape in double quotes, or remove it";
  EXPECT_EQ(refusal("a: b\0c"s), "x.yaml:1:5: the control character U+0000 is not allowed here" + next);
  EXPECT_EQ(refusal("a:\r\n  \x1B[1m"), "x.yaml:2:3: the control character U+001B is not allowed here" + next);
  EXPECT_EQ(refusal("a\rb\x7F"), "x.yaml:2:2: the control character U+007F is not allowed here" + next);
  EXPECT_EQ(refusal("\"a\xC2\x85\""), "x.yaml:1:3: the line break U+0085 is not allowed here" + next);
  EXPECT_EQ(refusal("\"a\xE2\x80\xA8\""), "x.yaml:1:3: the line break U+2028 is not allowed here" + next);
  EXPECT_EQ(refusal("a\xEF\xBB\xBF"), "x.yaml:1:2: the character U+FEFF is not allowed here" + next);
  EXPECT_EQ(refusal("a\xEF\xBF\xBF"), "x.yaml:1:2: the character U+FFFF is not allowed here" + next);
}

TEST(YamlText, FindsABadCharacterAtEveryPlaceOfALongLine) {
  for (size_t at = 0; at < 100; ++at) {
    std::string text(100, 'x');
    EXPECT_EQ(refusal(text), "no error");
    for (char bad : {'\0', '\x1F', '\x7F', '\xFF'}) {
      text[at] = bad;
      auto refused = check_yaml_text(text, "");
      ASSERT_TRUE(refused) << at;
      EXPECT_EQ(refused->position, (Position{"", 1, static_cast<uint32_t>(at + 1)}));
    }
  }
}

TEST(YamlText, RefusesManyTagLinesWhichAreSlowToCompare) {
  std::string text;
  for (int i = 0; i < 17; ++i) text += "%TAG !" + std::to_string(i) + "! x\n";
  auto refused = check_yaml_text(text, "t.yaml");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Code::limit);
  EXPECT_EQ(to_string(*refused), "t.yaml:1:1: the text has more than 16 %TAG lines");
  EXPECT_FALSE(check_yaml_text("a: x %TAG\n", "t.yaml"));
}

}  // namespace yaml_text_test
}  // namespace sluice
