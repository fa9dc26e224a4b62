// Bets by hand, and the fairness that the proof rests on: against a canary that is exactly at the tolerance no bet wins
// on average, nor does one for a canary exactly at the margin.
#include "judge/bets.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sluice::judge {
namespace bets_test {

constexpr Bounds kErrors = {1.05, 0.0001, 1.25, 0.005};
constexpr double kBeta = 0.05;

// The mean over all outcomes of a window of independent requests, each with its probability.
double mean(double canary_share, double baseline_share, double guess, double (*of)(const Stream&)) {
  auto chance = [](double n, double x, double share) {
    return std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1)) * std::pow(share, x) *
           std::pow(1 - share, n - x);
  };
  constexpr int kCanary = 6, kBaseline = 9;
  double sum = 0;
  for (int xc = 0; xc <= kCanary; ++xc) {
    for (int xb = 0; xb <= kBaseline; ++xb) {
      Stream stream;
      double bad = xc;
      lay_bets(
          stream, kErrors, guess,
          {.canary = kCanary, .canary_bad = bad, .canary_far = bad, .baseline = kBaseline, .baseline_bad = double(xb)},
          {}, 0, kBeta);
      sum += chance(kCanary, xc, canary_share) * chance(kBaseline, xb, baseline_share) * of(stream);
    }
  }
  return sum;
}

TEST(Bets, WinNothingOnAverageAtTheTolerance) {
  for (double share : {0.001, 0.02, 0.3}) {
    for (double guess : {0.0, 0.01, 0.5}) {  // however wrong what is known may be
      EXPECT_LE(mean(1.05 * share + 0.0001, share, guess, against), 0.5 + 1e-12) << share << " " << guess;
    }
    EXPECT_GT(mean(std::min(5 * share + 0.1, 1.0), share, share, against), 0.5);
  }
}

TEST(Bets, ForTheCanaryWinNothingOnAverageAtTheMargin) {
  for (double share : {0.001, 0.02, 0.3}) {
    EXPECT_LE(mean(1.25 * share + 0.005, share, share, for_), 1 + 1e-12) << share;
    EXPECT_GT(mean(0, share, share, for_), 1);
  }
}

TEST(Bets, AWindowWinsAtMostTwentyfold) {
  Stream stream;
  lay_bets(stream, kErrors, 0, {.canary = 1e6, .canary_bad = 1e6, .canary_far = 1e6, .baseline = 1e6}, {}, 0, kBeta);
  EXPECT_NEAR(against(stream), 10, 1e-9);
}

TEST(Bets, GroupsOfBadRequestsAreSeen) {
  Stream single, grouped;
  for (int i = 0; i < 200; ++i) {
    // The same number of bad requests: spread evenly, or all of a while in one window.
    watch_spread(single,
                 {.canary = 50, .canary_bad = double(i % 2), .baseline = 50, .baseline_bad = double((i + 1) % 2)});
    bool burst = i % 20 == 0, canary = i % 40 == 0;
    watch_spread(grouped, {.canary = 50,
                           .canary_bad = burst && canary ? 20.0 : 0,
                           .baseline = 50,
                           .baseline_bad = burst && !canary ? 20.0 : 0});
  }
  EXPECT_LT(grouping_of(single).against, 1.1);
  EXPECT_GT(grouping_of(grouped).against, 10);
}

TEST(Bets, DriftOfTheBaselineSlowsWhatSpeaksForTheCanary) {
  Stream stream;
  for (int i = 0; i < 200; ++i) watch_drift(stream, 1'000, 100, 100, i % 2 == 0 ? 0 : 20);
  EXPECT_EQ(grouping_of(stream).against, 1);
  EXPECT_EQ(grouping_of(stream).for_, 8);
}

TEST(Bets, SayHowManyRequestsAreNeeded) {
  Stream stream;
  double share = 0.001;
  double needed = requests_needed(stream, kErrors, share, share, 19, {}, kBeta).value();
  // As forecast, that many expected requests make it healthy.
  lay_bets(stream, kErrors, share,
           {.canary = needed,
            .canary_bad = needed * share,
            .canary_far = needed * share,
            .baseline = 19 * needed,
            .baseline_bad = 19 * needed * share},
           {.for_ = 4}, 0, kBeta);  // in four windows, as one is capped
  for (double& credit : stream.credits) credit *= 4;
  EXPECT_GE(for_(stream), 1 / kBeta);
  EXPECT_EQ(requests_needed(stream, kErrors, share, share, 19, {}, kBeta), 0);
  EXPECT_FALSE(requests_needed(Stream(), {0, 0.01, 0, 0.01}, 0.02, 0.02, 19, {}, kBeta));
}

TEST(Bets, SayWhatWouldHaveShown) {
  double odds = 12 * 4 / 0.001;
  EXPECT_FALSE(smallest_noticed(kErrors, 0.001, 19, 1, {}, odds));
  EXPECT_EQ(smallest_noticed(kErrors, 0.001, 19, 5, {}, odds), 1);
  EXPECT_EQ(smallest_noticed(kErrors, 0.001, 19, 2'000, {}, odds), 0.01);
  EXPECT_EQ(smallest_noticed(kErrors, 0.001, 19, 2'000, {.against = 100}, odds), 0.5);
}

}  // namespace bets_test
}  // namespace sluice::judge
