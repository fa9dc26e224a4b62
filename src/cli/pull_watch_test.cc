// A pull that is under way is told of; that one is, is tested end to end.
#include "cli/pull_watch.h"

#include <gtest/gtest.h>

#include "cli/testing_context.h"

namespace sluice::cli {
namespace pull_watch_test {

TEST(PullWatch, SaysNothingWhereNothingIsPulled) {
  TestingContext world({});
  const host::Home home(world.disk, world.folder.path("home"));
  { PullWatch watch(world.context, home, "r1"); }
  EXPECT_EQ(world.err.str(), "");
}

}  // namespace pull_watch_test
}  // namespace sluice::cli
