// The RFC 4648 vectors, and every way in which a second text for the same bytes is refused.
#include "crypto/base64.h"

#include <gtest/gtest.h>

namespace sluice::crypto {
namespace base64_test {

struct Example {
  std::string_view bytes;
  std::string_view text;
};

constexpr Example kExamples[] = {{"", ""},
                                 {"f", "Zg=="},
                                 {"fo", "Zm8="},
                                 {"foo", "Zm9v"},
                                 {"foob", "Zm9vYg=="},
                                 {"fooba", "Zm9vYmE="},
                                 {"foobar", "Zm9vYmFy"}};

TEST(Base64, GivesThePublishedTexts) {
  for (const Example& example : kExamples) {
    EXPECT_EQ(to_base64(example.bytes), example.text);
    EXPECT_EQ(from_base64(example.text).value(), example.bytes);
    EXPECT_EQ(secret_from_base64(example.text).value().reveal(), example.bytes);
    EXPECT_EQ(to_base64(example.bytes, Base64::url), example.text);
    EXPECT_EQ(from_base64(example.text, Base64::url).value(), example.bytes);
    std::string_view unpadded = example.text.substr(0, example.text.find('='));
    EXPECT_EQ(to_base64(example.bytes, Base64::url_unpadded), unpadded);
    EXPECT_EQ(from_base64(unpadded, Base64::url_unpadded).value(), example.bytes);
  }
}

TEST(Base64, TheAlphabetsDifferInTwoCharacters) {
  const std::string bytes = "\xfb\xff\xfe";
  EXPECT_EQ(to_base64(bytes), "+//+");
  EXPECT_EQ(to_base64(bytes, Base64::url), "-__-");
  EXPECT_EQ(from_base64("-__-").error().message, "character 1 is not of the standard base64 alphabet");
  EXPECT_EQ(from_base64("A//+", Base64::url).error().message, "character 2 is not of the URL-safe base64 alphabet");
}

TEST(Base64, EveryByteAtEveryPlaceGoesThereAndBack) {
  for (Base64 alphabet : {Base64::standard, Base64::url, Base64::url_unpadded}) {
    for (size_t shift = 0; shift < 3; ++shift) {
      std::string bytes(shift, 'x');
      for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
      EXPECT_EQ(from_base64(to_base64(bytes, alphabet), alphabet).value(), bytes);
    }
  }
}

TEST(Base64, RefusesMissingExcessAndMisplacedPadding) {
  const std::string length = "expected base64 whose length is a multiple of 4, padded with '=', found ";
  EXPECT_EQ(from_base64("Zg").error().message, length + "2 characters");
  EXPECT_EQ(from_base64("Zg=").error().message, length + "3 characters");
  EXPECT_EQ(from_base64("Zm9v=").error().message, length + "5 characters");
  EXPECT_EQ(from_base64("Z===").error().message, "character 2 is not of the standard base64 alphabet");
  EXPECT_EQ(from_base64("====").error().message, "character 1 is not of the standard base64 alphabet");
  EXPECT_EQ(from_base64("Zg==Zg==").error().message, "character 3 is not of the standard base64 alphabet");
  EXPECT_EQ(from_base64("Zm9v====").error().message, "character 5 is not of the standard base64 alphabet");
  EXPECT_EQ(from_base64("Zg==", Base64::url_unpadded).error().message,
            "character 3 is not of the URL-safe base64 alphabet");
  EXPECT_EQ(from_base64("Zm9vY", Base64::url_unpadded).error().message, "the base64 ends in the middle of a byte");
}

TEST(Base64, RefusesWhiteSpaceAndOtherCharacters) {
  EXPECT_EQ(from_base64("Zm9v\nZm9").error().message, "character 5 is not of the standard base64 alphabet");
  EXPECT_EQ(from_base64(" Zm9").error().message, "character 1 is not of the standard base64 alphabet");
  EXPECT_EQ(from_base64(std::string_view("Zm\0v", 4)).error().message,
            "character 3 is not of the standard base64 alphabet");
  EXPECT_EQ(from_base64("Zm9\xff").error().code, Code::invalid);
}

TEST(Base64, RefusesUnusedBitsThatAreNotZero) {
  for (std::string_view text : {"Zh==", "Zm9=", "Zv=="}) {
    EXPECT_EQ(from_base64(text).error().message, "the unused bits of the last base64 character are not zero") << text;
    EXPECT_FALSE(secret_from_base64(text));
  }
}

}  // namespace base64_test
}  // namespace sluice::crypto
