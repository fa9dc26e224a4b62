// What the host is told of a command line.
#include "cli/opening.h"

#include <gtest/gtest.h>

#include "cli/testing_context.h"

namespace sluice::cli {
namespace opening_test {

TEST(Openings, SayWhatTheCommandLineSays) {
  TestingContext world({}, "traffic set");
  world.given.set("reason", "tea time");
  world.given.set("lock-timeout", "3s");
  auto opening = opening_of(world.context);
  ASSERT_TRUE(opening) << to_string(opening.error());
  EXPECT_EQ(opening->purpose, "traffic set");
  EXPECT_EQ(opening->reason, "tea time");
  EXPECT_EQ(opening->lock_timeout_ms, 3'000);
  EXPECT_EQ(opening->home.root(), world.folder.path("home"));
}

TEST(Openings, AnOptionThatACommandLacksIsNotGiven) {
  TestingContext world({}, "kit check");
  auto opening = opening_of(world.context);
  ASSERT_TRUE(opening) << to_string(opening.error());
  EXPECT_EQ(opening->reason, "");
  EXPECT_EQ(opening->lock_timeout_ms, 0);
}

}  // namespace opening_test
}  // namespace sluice::cli
