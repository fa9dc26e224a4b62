// Hex digits there and back, and what is refused.
#include "crypto/hex.h"

#include <gtest/gtest.h>

namespace sluice::crypto {
namespace hex_test {

TEST(Hex, EveryByteGoesThereAndBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  std::string text = to_hex(bytes);
  EXPECT_EQ(text.substr(0, 8), "00010203");
  EXPECT_EQ(text.substr(504), "fcfdfeff");
  EXPECT_EQ(from_hex(text).value(), bytes);
  EXPECT_EQ(from_hex("").value(), "");
}

TEST(Hex, RefusesWhatIsNotHex) {
  EXPECT_EQ(from_hex("abc").error().message, "expected an even number of hex digits, found 3");
  EXPECT_EQ(from_hex("abCd").error().message, "character 3 is not a lowercase hex digit (0-9, a-f)");
  EXPECT_EQ(from_hex("0x").error().message, "character 2 is not a lowercase hex digit (0-9, a-f)");
  EXPECT_EQ(from_hex(std::string_view("\0a", 2)).error().message,
            "character 1 is not a lowercase hex digit (0-9, a-f)");
}

}  // namespace hex_test
}  // namespace sluice::crypto
