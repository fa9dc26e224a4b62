// sluice rollout on a home of its own. What it does to traffic is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace rollout_commands_test {

using testing::HasSubstr;

TEST(RolloutCommands, SayWhatThereIsNot) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"rollout", "list"}).out, "No rollout is under way.\n");
  Ran none = home.run({"rollout", "status"});
  EXPECT_EQ(none.exit, 5);
  EXPECT_EQ(none.err, "error: there was no rollout yet\nnext:  sluice rollout list\n");
  for (const char* verb : {"pause", "resume", "advance", "abort", "retry", "watch"}) {
    EXPECT_EQ(home.run({"rollout", verb, "shop"}).exit, 5) << verb;
  }
}

TEST(RolloutCommands, RefuseWhatCannotBeRolledOut) {
  ObjectsHome home;
  home.data({"bundles", "add", "local", home.archive()});
  Ran early = home.run({"rollout", "start", "local", "shop@1"});
  EXPECT_EQ(early.exit, 6);
  EXPECT_THAT(early.err, HasSubstr("is staged, not ready"));
  Ran number = home.run({"rollout", "start", "local", "shop@1", "--max-latency-p99", "soon"});
  EXPECT_EQ(number.exit, 2);
  EXPECT_THAT(number.err, HasSubstr("--max-latency-p99: expected a number, found soon"));
  Ran pause = home.run({"rollout", "start", "local", "shop@1", "--pause", "5m"});
  EXPECT_EQ(pause.exit, 2) << "canary's own steps have pauses of their own";
  EXPECT_THAT(pause.err, HasSubstr("--pause is for the steps that --steps names, for blue-green and for rolling"));
}

}  // namespace rollout_commands_test
}  // namespace sluice::cli
