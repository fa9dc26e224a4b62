// Well-formed text passes whole; every kind of malformed sequence is seen.
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace sluice {
namespace utf8_test {

TEST(Utf8, EveryCodePointComesBack) {
  for (char32_t point = 0; point <= 0x10FFFF; ++point) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, point);
    CodePoint read = first_code_point(text + "x");
    ASSERT_TRUE(read.valid) << static_cast<uint32_t>(point);
    ASSERT_EQ(read.value, point);
    ASSERT_EQ(read.bytes, text.size());
  }
}

TEST(Utf8, RefusesMalformedSequences) {
  for (const char* bad : {"\x80", "\xC0\xAF", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x80\x80", "\xE2\x82", "\xED\xA0\x80",
                          "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_FALSE(valid_utf8(bad));
    EXPECT_FALSE(valid_utf8(std::string("ok ") + bad));
    CodePoint broken = first_code_point(bad);
    EXPECT_EQ(broken.value, U'\uFFFD');
    EXPECT_EQ(broken.bytes, 1U);
  }
  EXPECT_TRUE(valid_utf8(""));
  EXPECT_TRUE(valid_utf8("naïve 日本 🚀"));
}

}  // namespace utf8_test
}  // namespace sluice
