// Members by their paths, lists whole.
#include "render/promote/difference.h"

#include <gtest/gtest.h>

namespace sluice::promote {
namespace difference_test {

TEST(PromoteDifference, MembersAreComparedAndListsWhole) {
  const json::value left{{"same", 1}, {"a/b", {{"x", 1}, {"y", 2}}}, {"list", {1, 2}}};
  const json::value right{{"same", 1}, {"a/b", {{"x", 1}, {"z", 3}}}, {"list", {1, 3}}};
  const auto all = differences_of(left, right);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].pointer, "/a~1b/y");
  EXPECT_TRUE(all[0].right.is_null());
  EXPECT_EQ(all[1].pointer, "/a~1b/z");
  EXPECT_EQ(all[2].pointer, "/list");
  EXPECT_TRUE(differences_of(left, left).empty());
}

}  // namespace difference_test
}  // namespace sluice::promote
