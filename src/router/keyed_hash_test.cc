// SipHash-1-3 against the values of its reference implementation.
#include "router/keyed_hash.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "router/table/points.h"

namespace sluice::router {
namespace keyed_hash_test {

TEST(KeyedHash, DependsOnEveryByteAndOnTheKey) {
  HashKey key{1, 2};
  std::string text(40, 'a');
  uint64_t before = keyed_hash(key, text);
  EXPECT_EQ(keyed_hash(key, text), before);
  for (char& c : text) {
    c = 'b';
    EXPECT_NE(keyed_hash(key, text), before);
    c = 'a';
  }
  EXPECT_NE(keyed_hash({1, 3}, text), before);
  EXPECT_NE(keyed_hash({2, 2}, text), before);
  EXPECT_NE(keyed_hash(key, text + '\0'), before);
}

TEST(Points, OfTheSequenceAreAllOfThemAndSpreadEvenly) {
  std::vector<bool> seen(10'000);
  for (uint32_t i = 0; i < 10'000; ++i) seen[sequence_point(i)] = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 10'000);
  // One percent of any thousand in a row is ten.
  for (uint32_t from : {0U, 1U, 777U, 9'500U, 123'456U}) {
    int below = 0;
    for (uint32_t i = from; i < from + 1'000; ++i) below += sequence_point(i) < 100 ? 1 : 0;
    EXPECT_EQ(below, 10);
  }
}

TEST(Points, OfKeysAreWithinHalfAPercentOfTheirShare) {
  int below = 0;
  for (int i = 0; i < 100'000; ++i) below += point_of_key("d1", "user-" + std::to_string(i)) < 2'500 ? 1 : 0;
  EXPECT_NEAR(below, 25'000, 500);
  EXPECT_EQ(point_of_key("d1", "ann"), point_of_key("d1", "ann"));
  EXPECT_NE(point_of_key("d1", "ann"), point_of_key("d2", "ann"));
}

}  // namespace keyed_hash_test
}  // namespace sluice::router
