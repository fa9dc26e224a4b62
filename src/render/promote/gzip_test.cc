// There and back, bombs and damage.
#include "render/promote/gzip.h"

#include <gtest/gtest.h>

namespace sluice::promote {
namespace gzip_test {

TEST(PromoteGzip, WhatWasPackedIsReadAgain) {
  const std::string text(100'000, 'x');
  EXPECT_EQ(ungzip(gzip(text), 200'000).value(), text);
  EXPECT_EQ(unpacked(packed(text)).value(), text);
  EXPECT_LT(packed(text).size(), 1'000U);
  EXPECT_EQ(packed("short"), "short");
}

TEST(PromoteGzip, ABombIsRefused) {
  const std::string bomb = gzip(std::string(1'000'000, '0'));
  EXPECT_LT(bomb.size(), 3'000U);
  EXPECT_EQ(ungzip(bomb, 100'000).error().code, Code::limit);
}

TEST(PromoteGzip, DamageIsSeen) {
  EXPECT_EQ(ungzip("????", 10).error().message, "it is not base64");
  EXPECT_EQ(ungzip("aGVsbG8=", 10).error().message, "it is no whole gzip");
  const std::string whole = gzip("hello");
  EXPECT_FALSE(ungzip(whole.substr(0, whole.size() - 8), 10));
  EXPECT_FALSE(unpacked("zstd:aGVsbG8="));
}

}  // namespace gzip_test
}  // namespace sluice::promote
