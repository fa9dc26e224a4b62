// Steps as people write them, refused by name.
#include <gmock/gmock.h>

#include "deploy/concepts/rollout/testing_rollout.h"

namespace sluice::deploy::rollout {
namespace rollout_steps_test {

using testing::HasSubstr;

TEST_F(RolloutTest, BeginRefusesStepsThatCannotBe) {
  EXPECT_EQ(refused_steps({"50%", "25%"}), "step 2: its weight 25% is not above step 1's 50%");
  EXPECT_EQ(refused_steps({"10%", "10%"}), "step 2: its weight 10% is not above step 1's 10%");
  EXPECT_THAT(refused_steps({"110%"}), HasSubstr("step 1: "));
  EXPECT_THAT(refused_steps({"10%:soon"}), HasSubstr("write 10%:5m, or 10%:manual to wait for a person"));
  EXPECT_EQ(refused_steps({"0%"}), "step 1: a weight of 0% is a step of blue-green alone");
  EXPECT_EQ(refused_steps({"10%"}, "blue-green"), "step 1: blue-green gives 0% or 100%, nothing between");
  EXPECT_EQ(refused_steps({"10%"}, "immediate"), "step 1: immediate gives 100% at once");
  EXPECT_THAT(refused_steps({"100%:5m"}), HasSubstr("no step may follow 100%"));
  EXPECT_EQ(refused_steps({"10%"}, "magic"),
            "there is no strategy magic; it is canary, blue-green, rolling or immediate");
  EXPECT_TRUE(State(harness.rows()).find_by_deployment("d1").empty());
}

}  // namespace rollout_steps_test
}  // namespace sluice::deploy::rollout
