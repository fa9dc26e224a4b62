// Steps as people write them.
#include "deploy/rollout_steps.h"

#include <gtest/gtest.h>

namespace sluice::deploy {
namespace rollout_steps_test {

TEST(RolloutSteps, AreReadAndEndAt100) {
  const auto steps = parse_steps({"10%:5m", "50%:manual"}, "canary").value();
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].weight_bps, 1'000);
  EXPECT_EQ(steps[0].pause_s, 300);
  EXPECT_TRUE(steps[1].manual);
  EXPECT_EQ(steps[2].weight_bps, 10'000);
  EXPECT_EQ(parse_steps({}, "").value().size(), 4U) << "the usual ones of a canary";
  EXPECT_EQ(parse_steps({}, "blue-green").value().front().weight_bps, 0);
}

TEST(RolloutSteps, ThatCannotBeAreRefused) {
  EXPECT_EQ(parse_steps({"50%", "25%"}, "canary").error().message, "step 2: its weight 25% is not above step 1's 50%");
  EXPECT_EQ(parse_steps({"10%"}, "rolling").error().message,
            "rolling makes its steps of the replicas; say with `batch` how many are replaced at a time");
  EXPECT_EQ(parse_steps({}, "magic").error().message,
            "there is no strategy magic; it is canary, blue-green, rolling or immediate");
}

}  // namespace rollout_steps_test
}  // namespace sluice::deploy
