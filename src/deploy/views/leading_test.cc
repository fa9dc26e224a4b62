// Which revision has most traffic, of rows in memory.
#include "deploy/views/leading.h"

#include <gtest/gtest.h>

#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace leading_test {

TEST(Leading, IsTheOneWithMostTrafficAndTheNewestOfThose) {
  RowsInMemory rows;
  rows.deployment("d1");
  rows.revision("a", "d1", 1);
  rows.revision("b", "d1", 2);
  rows.revision("c", "d1", 3);
  EXPECT_EQ(leading_revision(rows, "d1"), "");
  rows.split("d1", {{"a", 4'000}, {"b", 4'000}, {"c", 2'000}});
  EXPECT_EQ(leading_revision(rows, "d1"), "b");
  rows.split("d1", {{"a", 10'000}, {"c", 0}});
  EXPECT_EQ(leading_revision(rows, "d1"), "a");
}

}  // namespace leading_test
}  // namespace sluice::deploy::views
