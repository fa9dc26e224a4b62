// Seeded bytes are the same everywhere; real ones differ; bounds hold.
#include "base/random.h"

#include <gtest/gtest.h>

#include <set>

namespace sluice {
namespace random_test {

// splitmix64(0) begins e220a8397b1dcdaf, 6e789e6aa1b965f4, 06c45d188009454f, f88bb8a8724c81ec; the expected word is
// rotl(s1 * 5, 7) * 9 of that state.
TEST(SeededRandom, GivesTheBytesOfItsPublishedAlgorithm) {
  SeededRandom random(0);
  EXPECT_EQ(random.u64(), 0x99ec5f36cb75f2b4u);
}

TEST(SeededRandom, RepeatsForTheSameSeedAndDiffersForAnother) {
  std::array<uint8_t, 37> first, again, other;
  SeededRandom(42).fill(first);
  SeededRandom(42).fill(again);
  SeededRandom(43).fill(other);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

TEST(SeededRandom, GivesBytesLeastSignificantFirst) {
  std::array<uint8_t, 8> bytes;
  SeededRandom(0).fill(bytes);
  EXPECT_EQ(bytes, (std::array<uint8_t, 8>{0xb4, 0xf2, 0x75, 0xcb, 0x36, 0x5f, 0xec, 0x99}));
}

TEST(Random, BelowReachesEveryValueAndNoOther) {
  SeededRandom random(7);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1'000; ++i) seen.insert(random.below(5));
  EXPECT_EQ(seen, (std::set<uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(random.below(1), 0u);
}

TEST(RealRandom, FillsAnyLengthAndDoesNotRepeat) {
  RealRandom random;
  std::vector<uint8_t> large(100'000);
  random.fill(large);
  EXPECT_NE(std::vector<uint8_t>(large.end() - 64, large.end()), std::vector<uint8_t>(64));
  EXPECT_NE(random.u64(), random.u64());
  random.fill({});
}

}  // namespace random_test
}  // namespace sluice
