// Settings out of range are refused by name.
#include "judge/settings.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sluice::judge {
namespace settings_test {

std::string refused(const Settings& settings) {
  auto sound = check(settings);
  return sound ? "" : sound.error().path + ": " + sound.error().message;
}

TEST(Settings, TheDefaultsAreSound) { EXPECT_EQ(refused({}), ""); }

TEST(Settings, EachIsKeptWithinItsRange) {
  EXPECT_EQ(refused({.alpha = 0}), "/alpha: alpha is between 0.000000001 and 0.5");
  EXPECT_EQ(refused({.alpha = std::nan("")}), "/alpha: alpha is between 0.000000001 and 0.5");
  EXPECT_EQ(refused({.beta = 1}), "/beta: beta is between 0.000000001 and 0.5");
  EXPECT_EQ(refused({.max_error_rate = 1}), "/max_error_rate: a share is between 0.000001 and 0.99");
  EXPECT_EQ(refused({.max_latency_p99_ms = 0}),
            "/max_latency_p99_ms: a limit of latency is between 0.001 and 1000000000 ms");
  EXPECT_EQ(refused({.errors = {-1, 0.1, 1, 0.1}}), "/errors: a ratio is between 0 and 100");
  EXPECT_EQ(refused({.p90 = {1, 0.1, 1, 0}}), "/p90: what is added to a share is between 0.000001 and 0.99");
  EXPECT_EQ(refused({.warm_up_s = -1}), "/warm_up_s: it is between 0 and 86400 seconds");
  EXPECT_EQ(refused({.settle_s = 1e9}), "/settle_s: it is between 0 and 86400 seconds");
  EXPECT_EQ(refused({.limits = {{.name = "", .share = 0.1}}}), "/limits/0/name: a limit has a name");
  EXPECT_EQ(refused({.limits = {{.name = "x", .over_ms = 0, .share = 0.1}}}),
            "/limits/0/over_ms: a limit of latency is between 0.001 and 1000000000 ms");
  EXPECT_EQ(refused({.limits = {{.name = "x", .share = 0}}}), "/limits/0/share: a share is between 0.000001 and 0.99");
  EXPECT_EQ(refused({.limits = std::vector<Limit>(17)}), "/limits: there are at most 16 limits");
  EXPECT_EQ(refused({.alone = true}), "/alone: without a baseline there must be a limit");
}

}  // namespace settings_test
}  // namespace sluice::judge
