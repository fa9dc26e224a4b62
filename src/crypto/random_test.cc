// The system's random bytes: whole spans are filled, and no two alike.
#include "crypto/random.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice::crypto {
namespace {

TEST(Random, FillsEverySpanToItsEnd) {
  for (size_t size : {size_t{32}, size_t{(2 << 20) + 5}}) {
    std::vector<uint8_t> bytes(size, 0);
    secure_random(bytes);
    // 32 zero bytes in a row have a chance of 2^-256.
    EXPECT_FALSE(std::all_of(bytes.end() - 32, bytes.end(), [](uint8_t byte) { return byte == 0; })) << size;
  }
}

TEST(Random, GivesOtherBytesEachTime) {
  std::vector<uint8_t> first(32);
  std::vector<uint8_t> second(32);
  secure_random(first);
  secure_random(second);
  EXPECT_NE(first, second);
  secure_random({});
}

}  // namespace
}  // namespace sluice::crypto
