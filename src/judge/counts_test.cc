// What can be a count, and how totals become windows.
#include "judge/counts.h"

#include <gtest/gtest.h>

#include <limits>

namespace sluice::judge {
namespace counts_test {

TEST(Counts, NumbersThatCannotBeCountsAreNotSound) {
  EXPECT_TRUE(is_sound({}));
  EXPECT_TRUE(is_sound({.requests = 2, .failed = 2, .latencies = {0, 1}}));
  EXPECT_FALSE(is_sound({.requests = -1}));
  EXPECT_FALSE(is_sound({.requests = 1, .failed = 2}));
  EXPECT_TRUE(is_sound({.requests = 0.97, .failed = 0.5}));
  EXPECT_FALSE(is_sound({.requests = 1e-300}));
  EXPECT_FALSE(is_sound({.requests = 1e13}));
  EXPECT_FALSE(is_sound({.requests = std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_FALSE(is_sound({.requests = std::numeric_limits<double>::infinity()}));
  EXPECT_FALSE(is_sound({.requests = 1, .latencies = {0, -1}}));
}

TEST(Counts, AddTakesHistogramsOfAnyLength) {
  Counts sum{.requests = 1, .latencies = {1}};
  add(sum, {.requests = 2, .failed = 1, .latencies = {0, 0, 3}});
  EXPECT_EQ(sum.requests, 3);
  EXPECT_EQ(sum.failed, 1);
  EXPECT_EQ(sum.latencies, (std::vector<double>{1, 0, 3}));
}

Window totals(double baseline, double canary) {
  return {.seconds = 10,
          .canary_weight_bps = 500,
          .baseline = {.requests = baseline, .latencies = {baseline}},
          .canary = {.requests = canary, .latencies = {0, canary}}};
}

TEST(Totals, GiveTheDifferenceToTheOnesBefore) {
  Totals counters;
  EXPECT_FALSE(counters.since_last(totals(1'000, 10)));
  auto window = counters.since_last(totals(1'300, 15));
  ASSERT_TRUE(window);
  EXPECT_EQ(window->baseline.requests, 300);
  EXPECT_EQ(window->canary.latencies, (std::vector<double>{0, 5}));
  EXPECT_EQ(window->seconds, 10);
  EXPECT_EQ(window->canary_weight_bps, 500);
  EXPECT_EQ(counters.resets(), 0);
}

TEST(Totals, SeeThatACounterBeganAgain) {
  Totals counters;
  counters.since_last(totals(1'000, 10));
  EXPECT_FALSE(counters.since_last(totals(40, 12)));
  EXPECT_EQ(counters.resets(), 1);
  auto window = counters.since_last(totals(90, 14));
  ASSERT_TRUE(window);
  EXPECT_EQ(window->baseline.requests, 50);
  EXPECT_EQ(window->canary.requests, 2);
}

TEST(Totals, WaitForNumbersAfterOnesThatAreNone) {
  Totals counters;
  counters.since_last(totals(1'000, 10));
  EXPECT_FALSE(counters.since_last(totals(std::numeric_limits<double>::quiet_NaN(), 11)));
  EXPECT_EQ(counters.resets(), 1);
  EXPECT_FALSE(counters.since_last(totals(1'200, 12)));  // from when the one before was missed
  EXPECT_TRUE(counters.since_last(totals(1'300, 13)));
  EXPECT_EQ(counters.resets(), 1);
}

}  // namespace counts_test
}  // namespace sluice::judge
