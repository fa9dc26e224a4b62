// What counts as near, and what is too far to suggest.
#include "base/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace sluice {
namespace nearest_test {

constexpr std::array<std::string_view, 4> kNames = {"name", "port", "replicas", "strategy"};

TEST(Nearest, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("port", "sport"), 1U);
  EXPECT_EQ(edit_distance("port", "pot"), 1U);
  EXPECT_EQ(edit_distance("port", "part"), 1U);
  EXPECT_EQ(edit_distance("port", "prot"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Nearest, FindsTheMistypedName) {
  EXPECT_EQ(nearest("prot", kNames), "port");
  EXPECT_EQ(nearest("replica", kNames), "replicas");
  EXPECT_EQ(nearest("stratgey", kNames), "strategy");
}

TEST(Nearest, TakesTheFirstOfEquals) {
  constexpr std::array<std::string_view, 2> kPair = {"cat", "car"};
  EXPECT_EQ(nearest("cab", kPair), "cat");
}

TEST(Nearest, SuggestsNothingWhenAllAreFar) {
  EXPECT_EQ(nearest("hostname", kNames), std::nullopt);
  EXPECT_EQ(nearest("", kNames), std::nullopt);
  EXPECT_EQ(nearest("x", std::array<std::string_view, 1>{"y"}), std::nullopt);
  EXPECT_EQ(nearest("port", std::span<const std::string_view>{}), std::nullopt);
}

TEST(Nearest, SuggestsNothingForAWordLongerThanAnyName) {
  std::vector<std::string> names = {std::string(65, 'a')};
  EXPECT_EQ(nearest(std::string(65, 'a'), names), std::nullopt);
  EXPECT_EQ(nearest(std::string(64, 'a'), names), std::string(65, 'a'));
}

}  // namespace nearest_test
}  // namespace sluice
