// The judge on simulated traffic, from many seeds: a version that is no worse is called unhealthy at most as often as
// alpha says, one that is worse is called healthy at most as often as beta says, and harm is found.
//
// SLUICE_RUNS says how many runs each scenario has (200). With more than 200, the two other judges see the windows of
// the first thousand as well, and every scenario prints its row of docs/internals/judge.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "judge/judge.h"
#include "peers.h"
#include "scenarios.h"

namespace sluice::judge::simulation {
namespace simulation_test {

constexpr int kFewRuns = 200;
constexpr int kRunsOfPeers = 1'000;

int runs() {
  const char* asked = std::getenv("SLUICE_RUNS");
  return asked != nullptr ? std::max(std::atoi(asked), 1) : kFewRuns;
}

// The largest chance by which so few of so many is not yet a surprise of one in a hundred (Clopper and Pearson).
double upper_bound(int seen, int of) {
  auto chance_of_no_more = [&](double chance) {
    double sum = 0;
    for (int i = 0; i <= seen; ++i) {
      sum += std::exp(std::lgamma(of + 1.0) - std::lgamma(i + 1.0) - std::lgamma(of - i + 1.0) + i * std::log(chance) +
                      (of - i) * std::log1p(-chance));
    }
    return sum;
  };
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) (chance_of_no_more((low + high) / 2) > 0.01 ? low : high) = (low + high) / 2;
  return seen >= of ? 1 : high;
}

// In how many runs it happened, and when.
struct Found {
  std::vector<double> minutes;
  void at(double seconds) { minutes.push_back(seconds / 60); }
  int count() const { return static_cast<int>(minutes.size()); }
  double median() {
    if (minutes.empty()) return 0;
    std::ranges::nth_element(minutes, minutes.begin() + count() / 2);
    return minutes[static_cast<size_t>(count() / 2)];
  }
};

struct Tallied {
  Found unhealthy, healthy, fixed, mann_whitney;
  int doubted = 0;  // runs in which what speaks against the canary ever reached 20
  int healthy_at_end = 0;
};

void run_once(const Scenario& scenario, uint64_t seed, bool with_peers, Run::Known& known, Tallied& tallied) {
  Run run(scenario, seed, known);
  Judge judge(Settings(), scenario.buckets);
  for (int i = 0; i < 60; ++i) judge.learn(run.before());
  Minutes minutes;
  FixedJudge fixed(scenario.buckets);
  MannWhitneyJudge mann_whitney(scenario.buckets);
  bool doubted = false, unhealthy = false, healthy = false, by_fixed = false, by_mann_whitney = false;
  while (!run.is_over()) {
    const Window& window = run.next();
    judge.add(window);
    doubted = doubted || judge.against() >= 20;
    Outcome outcome = judge.outcome();
    if (outcome == Outcome::healthy && !healthy) tallied.healthy.at(run.at_s());
    healthy = healthy || outcome == Outcome::healthy;
    if (outcome == Outcome::unhealthy && !unhealthy) tallied.unhealthy.at(run.at_s());
    unhealthy = unhealthy || outcome == Outcome::unhealthy;
    if (!with_peers && unhealthy) break;
    if (!with_peers || !minutes.add(window)) continue;
    if (!by_fixed && fixed.is_worse(minutes.minute)) {
      by_fixed = true;
      tallied.fixed.at(run.at_s());
    }
    if (!by_mann_whitney && mann_whitney.is_worse(minutes.minute)) {
      by_mann_whitney = true;
      tallied.mann_whitney.at(run.at_s());
    }
    if (unhealthy && by_fixed && by_mann_whitney) break;
  }
  tallied.doubted += doubted ? 1 : 0;
  tallied.healthy_at_end += judge.outcome() == Outcome::healthy ? 1 : 0;
}

std::string cell(Found& found, int of) {
  char text[48];
  double percent = 100.0 * found.count() / of;
  if (found.count() == 0) return "0";
  std::snprintf(text, sizeof text, percent < 10 ? "%.2g %%, %.1f" : "%.0f %%, %.1f", percent, found.median());
  return text;
}

class Simulation : public testing::TestWithParam<size_t> {};

TEST_P(Simulation, IsJudgedAsItIs) {
  const Scenario& scenario = scenarios()[GetParam()];
  const int all = runs();
  const Settings settings;
  const int with_peers = all > kFewRuns ? std::min(all, kRunsOfPeers) : 0;
  Tallied tallied;
  Run::Known known;
  for (int i = 0; i < all; ++i) {
    run_once(scenario, GetParam() * 1'000'003 + static_cast<uint64_t>(i), i < with_peers, known, tallied);
  }
  if (scenario.truth == Truth::no_worse) {
    // By the same inequality as alpha: at most one run in twenty reaches 20. That can be seen in 200 runs.
    EXPECT_LE(upper_bound(tallied.doubted, all), 0.05) << tallied.doubted << " runs of " << all;
    if (upper_bound(0, all) <= settings.alpha) {  // there are enough runs to show it
      EXPECT_LE(upper_bound(tallied.unhealthy.count(), all), settings.alpha) << tallied.unhealthy.count() << " runs";
    } else {
      EXPECT_EQ(tallied.unhealthy.count(), 0);
    }
  } else {
    int healthy = scenario.truth == Truth::worse ? tallied.healthy.count() : tallied.healthy_at_end;
    if (scenario.truth != Truth::between) {
      EXPECT_LE(upper_bound(healthy, all), settings.beta) << healthy << " runs of " << all;
    }
    EXPECT_GE(tallied.unhealthy.count(), all * 4 / 5) << "harm was not found";
  }
  if (with_peers > 0) {
    std::printf("| %s | %s | %s | %.3g %% | %s | %s |\n", scenario.name.c_str(), cell(tallied.unhealthy, all).c_str(),
                cell(tallied.healthy, all).c_str(), 100.0 * tallied.healthy_at_end / all,
                cell(tallied.fixed, with_peers).c_str(), cell(tallied.mann_whitney, with_peers).c_str());
  }
}

std::string test_name(const testing::TestParamInfo<size_t>& info) {
  std::string name;
  for (char letter : scenarios()[info.param].name) {
    bool plain = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
    if (plain) name += letter;
    if (letter == ' ') name += '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Judge, Simulation, testing::Range<size_t>(0, scenarios().size()), test_name);

TEST(UpperBound, IsThatOfClopperAndPearson) {
  EXPECT_NEAR(upper_bound(0, 200), 1 - std::pow(0.01, 1.0 / 200), 1e-9);
  EXPECT_NEAR(upper_bound(3, 200), 0.0494, 1e-3);
  EXPECT_EQ(upper_bound(5, 5), 1);
}

}  // namespace simulation_test
}  // namespace sluice::judge::simulation
