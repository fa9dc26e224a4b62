// What is said while a revision drains; that it counts is tested end to end.
#include "cli/drain_watch.h"

#include <gtest/gtest.h>

#include "cli/testing_context.h"

namespace sluice::cli {
namespace drain_watch_test {

TEST(DrainWatch, CountsAreSaidInWords) {
  EXPECT_EQ(to_text(UnderWay{}), "0 requests under way");
  EXPECT_EQ(to_text(UnderWay{.requests = 1}), "1 request under way");
  EXPECT_EQ(to_text(UnderWay{.requests = 2, .websockets = 1}), "2 requests and 1 WebSocket under way");
}

TEST(DrainWatch, WithoutRoutersNothingIsSaid) {
  TestingContext world({});
  const host::Home home(world.disk, world.folder.path("home"));
  EXPECT_EQ(under_way(world.context, home, "d1", "r1"), UnderWay{});
  { DrainWatch watch(world.context, home, "d1", "r1"); }
  EXPECT_EQ(world.err.str(), "");
}

}  // namespace drain_watch_test
}  // namespace sluice::cli
