// The judge reproduces its vectors to the last of their six digits, and keeps the rules about windows.
#include "judge/judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "judge/testing_windows.h"

namespace sluice::judge {
namespace judge_test {

std::string six_digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

Judge judge_of(const Vector& vector, size_t windows) {
  Judge judge(vector.settings, Buckets());
  for (const Counts& counts : vector.history) judge.learn(counts);
  for (size_t i = 0; i < windows; ++i) judge.add(vector.windows[i]);
  return judge;
}

TEST(Judge, ReproducesItsVectors) {
  for (const Vector& vector : vectors()) {
    SCOPED_TRACE(vector.name);
    Verdict verdict = judge_of(vector, vector.windows.size()).verdict("v1", "v2");
    EXPECT_EQ(verdict.verdict, vector.outcome);
    EXPECT_EQ(six_digits(verdict.against), six_digits(vector.against));
    ASSERT_EQ(verdict.metrics.size(), vector.rows.size());
    for (size_t i = 0; i < vector.rows.size(); ++i) {
      SCOPED_TRACE(verdict.metrics[i].name);
      EXPECT_EQ(six_digits(verdict.metrics[i].against), six_digits(vector.rows[i].against));
      EXPECT_EQ(six_digits(verdict.metrics[i].for_), six_digits(vector.rows[i].for_));
    }
    if (vector.needed) {
      EXPECT_EQ(six_digits(verdict.requests_needed.value_or(-1)), six_digits(*vector.needed));
    }
    Judge before = judge_of(vector, vector.windows.size() - 1);
    EXPECT_EQ(before.outcome(), Outcome::insufficientData);
    if (vector.grouping) {  // by which the last window counts
      EXPECT_EQ(six_digits(before.verdict("v1", "v2").metrics[0].grouping), six_digits(*vector.grouping));
    }
  }
}

Window window(const Counts& canary) { return {.baseline = old_version(), .canary = canary}; }

Judge fresh(const Settings& settings = without_warm_up()) {
  Judge judge(settings, Buckets());
  for (int i = 0; i < 10; ++i) judge.learn(old_version());
  return judge;
}

TEST(Judge, StaysUnhealthyWithItsNumbers) {
  Judge judge = fresh();
  while (judge.outcome() != Outcome::unhealthy) judge.add(window(new_version(10)));
  std::string sentence = judge.verdict("v1", "v2").sentence;
  for (int i = 0; i < 1'000; ++i) judge.add(window(new_version()));
  EXPECT_EQ(judge.verdict("v1", "v2").sentence, sentence);
}

TEST(Judge, TwoBadWindowsNeverSuffice) {
  Judge judge = fresh();
  judge.add(window(counts_of(50, "")));
  judge.add(window(counts_of(50, "")));
  EXPECT_EQ(judge.outcome(), Outcome::insufficientData);
  for (int i = 0; i < 2; ++i) judge.add(window(counts_of(50, "")));
  EXPECT_EQ(judge.outcome(), Outcome::unhealthy);
}

TEST(Judge, LatenciesOfAColdCanaryDoNotCountButItsErrorsDo) {
  Settings settings;  // 60 s from its start, 20 s after a rise
  Judge slow = fresh(settings), failing = fresh(settings);
  for (int i = 0; i < 6; ++i) {
    slow.add({.canary_weight_bps = 500, .baseline = old_version(), .canary = counts_of(0, "40:50")});
    failing.add({.canary_weight_bps = 500, .baseline = old_version(), .canary = counts_of(50, "")});
  }
  EXPECT_LT(slow.against(), 1);
  EXPECT_EQ(slow.verdict("v1", "v2").metrics[1].canary_requests, 0);
  EXPECT_EQ(failing.outcome(), Outcome::unhealthy);

  for (int i = 0; i < 2; ++i) {
    slow.add({.canary_weight_bps = 1'000, .baseline = old_version(), .canary = counts_of(0, "40:50")});
  }
  EXPECT_LT(slow.against(), 1);
  slow.add({.canary_weight_bps = 1'000, .baseline = old_version(), .canary = counts_of(0, "40:50")});
  EXPECT_GT(slow.against(), 1);
}

TEST(Judge, AChangeOfWeightBeginsAStep) {
  Judge judge = fresh();
  for (int i = 0; i < 14; ++i) {
    judge.add({.canary_weight_bps = 500, .baseline = old_version(), .canary = new_version()});
  }
  ASSERT_EQ(judge.outcome(), Outcome::healthy);
  double against = judge.against();
  judge.add({.canary_weight_bps = 1'000});
  EXPECT_EQ(judge.outcome(), Outcome::insufficientData);
  EXPECT_EQ(judge.against(), against);
  Verdict verdict = judge.verdict("v1", "v2");
  EXPECT_EQ(verdict.canary_requests, 0);
  EXPECT_EQ(verdict.seconds, 0);
  // How many will be needed is told by the weight until requests tell it.
  EXPECT_GT(verdict.requests_needed.value_or(0), 500);
  EXPECT_FALSE(verdict.seconds_needed);
  for (int i = 0; i < 20; ++i) {
    judge.add({.canary_weight_bps = 1'000, .baseline = old_version(), .canary = new_version()});
  }
  EXPECT_EQ(judge.outcome(), Outcome::healthy);
}

TEST(Judge, WindowsOfOneAloneAreAddedToTheNext) {
  Judge together = fresh(), apart = fresh();
  together.add({.seconds = 20, .baseline = old_version(), .canary = new_version()});
  apart.add({.seconds = 10, .canary = new_version()});
  EXPECT_EQ(apart.verdict("v1", "v2").windows, 0);
  apart.add({.seconds = 10, .baseline = old_version()});
  EXPECT_EQ(apart.verdict("v1", "v2").windows, 1);
  EXPECT_EQ(apart.against(), together.against());
}

TEST(Judge, WhatIsLeftOverAtAChangeOfWeightIsOnlyLearnt) {
  Judge judge = fresh();
  judge.add({.canary_weight_bps = 100, .baseline = old_version()});
  double known = judge.state().known.requests;
  judge.add({.canary_weight_bps = 200, .canary = new_version()});
  EXPECT_EQ(judge.state().windows, 0);
  EXPECT_GT(judge.state().known.requests, known);
  EXPECT_EQ(judge.state().pending.baseline.requests, 0);
}

TEST(Judge, WhatIsLeftOverOfAColdSpellDoesNotMakeTheNextStepCold) {
  Judge judge = fresh({.warm_up_s = 10, .settle_s = 0});
  judge.add({.canary_weight_bps = 100, .baseline = old_version()});
  judge.add({.canary_weight_bps = 200, .baseline = old_version(), .canary = new_version()});
  EXPECT_EQ(judge.verdict("v1", "v2").metrics[1].canary_requests, 50);
}

TEST(Judge, CountsThatCannotBeAreDropped) {
  Judge judge = fresh(), clean = fresh();
  judge.add(window(new_version()));
  clean.add(window(new_version()));
  Counts broken = new_version();
  broken.failed = broken.requests + 1;
  judge.add(window(broken));
  broken = new_version();
  broken.latencies[20] = std::nan("");
  judge.add(window(broken));
  judge.learn({.requests = -1});
  EXPECT_EQ(judge.verdict("v1", "v2").dropped_windows, 3);
  EXPECT_EQ(judge.against(), clean.against());
}

TEST(Judge, GoesOnFromItsStateToTheLastBit) {
  for (const Vector& vector : vectors()) {
    Judge whole = judge_of(vector, vector.windows.size());
    Judge half = judge_of(vector, vector.windows.size() / 2);
    std::string kept = write(to_json(half.state()));
    auto resumed = Judge::resumed(vector.settings, Buckets(), read<State>(*parse_json_value(kept)).value());
    ASSERT_TRUE(resumed);
    for (size_t i = vector.windows.size() / 2; i < vector.windows.size(); ++i) resumed->add(vector.windows[i]);
    EXPECT_EQ(write(to_json(resumed->state())), write(to_json(whole.state()))) << vector.name;
  }
  Settings limited = without_warm_up();
  limited.max_error_rate = 0.01;
  auto other = Judge::resumed(limited, Buckets(), fresh().state());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "the judge's state belongs to other settings or buckets");
}

TEST(Judge, AbsoluteLimitsHoldWhereTheBaselineIsAsBad) {
  auto outcome_of = [](const Settings& settings, const Counts& canary) {
    Judge judge(settings, Buckets());
    Counts baseline = canary;
    for (int i = 0; i < 50; ++i) judge.add({.baseline = baseline, .canary = canary});
    return judge.verdict("v1", "v2");
  };
  Settings settings = without_warm_up();
  EXPECT_NE(outcome_of(settings, counts_of(10, "20:90")).verdict, Outcome::unhealthy);
  settings.max_error_rate = 0.05;
  Verdict failing = outcome_of(settings, counts_of(10, "20:90"));
  EXPECT_EQ(failing.verdict, Outcome::unhealthy);
  EXPECT_EQ(failing.metric, "max_error_rate");
  settings = without_warm_up();
  EXPECT_NE(outcome_of(settings, counts_of(0, "20:90 38:10")).verdict, Outcome::unhealthy);
  settings.max_latency_p99_ms = 500;
  Verdict slow = outcome_of(settings, counts_of(0, "20:90 38:10"));
  EXPECT_EQ(slow.verdict, Outcome::unhealthy);
  EXPECT_EQ(slow.metric, "max_latency_p99");
}

// As a source that counts answers and not how long they took.
TEST(Judge, WhereNobodyCountsLatenciesErrorsAloneAreCompared) {
  const Counts many{.requests = 1'000, .failed = 1}, few{.requests = 100};
  auto judged = [&](const Settings& settings, const Counts& canary, int windows) {
    Judge judge(settings, Buckets());
    for (int i = 0; i < windows; ++i) judge.add({.baseline = many, .canary = canary});
    return judge;
  };
  Judge good = judged(without_warm_up(), few, 60);
  const Verdict passed = good.verdict("v1", "v2");
  EXPECT_EQ(passed.verdict, Outcome::healthy);
  EXPECT_EQ(passed.metrics.size(), 1U);
  EXPECT_EQ(passed.sentence.find("latency"), std::string::npos) << passed.sentence;
  EXPECT_EQ(judged(without_warm_up(), few, 2).verdict("v1", "v2").verdict, Outcome::insufficientData);
  EXPECT_TRUE(judged(without_warm_up(), few, 2).verdict("v1", "v2").requests_needed.has_value());
  EXPECT_EQ(judged(without_warm_up(), {.requests = 100, .failed = 10}, 60).verdict("v1", "v2").verdict,
            Outcome::unhealthy);
  good.add({.baseline = old_version(), .canary = new_version()});
  EXPECT_EQ(good.outcome(), Outcome::insufficientData) << "from now on they count";
  EXPECT_EQ(good.verdict("v1", "v2").metrics.size(), 4U);

  Settings limited = without_warm_up();
  limited.max_latency_p99_ms = 500;
  EXPECT_EQ(judged(limited, few, 60).verdict("v1", "v2").sentence,
            "Undecided, and more requests will not help: nothing says how long requests take, which max_latency_p99 "
            "needs.");
  const std::vector<Limit> limits = limits_of_last_hour(std::vector<Counts>(60, many), Buckets());
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0].name, "last_hour_errors");
}

TEST(Judge, AloneItGoesByTheLimitsOfTheLastHour) {
  std::vector<Counts> hour(360, old_version());
  std::vector<Limit> limits = limits_of_last_hour(hour, Buckets());
  ASSERT_EQ(limits.size(), 2);
  EXPECT_NEAR(limits[0].share, 2.0 / 950 + 0.005, 1e-12);
  EXPECT_NEAR(*limits[1].over_ms, 79.43, 0.01);
  EXPECT_NEAR(limits[1].share, 2 * 4.0 / 949 + 0.005, 1e-12);
  EXPECT_TRUE(limits_of_last_hour(std::span(hour).first(0), Buckets()).empty());

  Settings settings = without_warm_up();
  settings.alone = true;
  settings.limits = limits;
  auto verdict_of = [&](const Counts& canary) {
    Judge judge(settings, Buckets());
    for (int i = 0; i < 60; ++i) judge.add({.canary = canary});
    return judge.verdict("v1", "v2");
  };
  Counts failing = old_version();
  failing.failed += 100;
  failing.requests += 100;
  EXPECT_EQ(verdict_of(failing).metric, "last_hour_errors");
  EXPECT_EQ(verdict_of(failing).verdict, Outcome::unhealthy);
  EXPECT_EQ(verdict_of(old_version()).verdict, Outcome::healthy);
}

TEST(Judge, AShortHourGivesWideLimits) {
  auto errors_of = [](double requests, double failed, size_t windows) {
    const Counts each{.requests = requests / static_cast<double>(windows),
                      .failed = failed / static_cast<double>(windows)};
    const auto limits = limits_of_last_hour(std::vector<Counts>(windows, each), Buckets());
    EXPECT_EQ(limits.size(), 1U);
    return limits.empty() ? 0 : limits[0].share;
  };
  EXPECT_TRUE(limits_of_last_hour(std::vector<Counts>(60, {.requests = 1.6}), Buckets()).empty());
  EXPECT_NEAR(errors_of(600, 0, 60), 0.005, 1e-12) << "six blocks";
  EXPECT_NEAR(errors_of(590, 0, 59), 2 * 4.0 / 110 + 0.005, 1e-12) << "five, and the smallest has 110";
  EXPECT_NEAR(errors_of(900, 0, 1), 2 * 4.0 / 900 + 0.005, 1e-12) << "one window is one block";
  // Whatever the version's true share of errors is, its own past rarely gives a limit below that.
  for (int requests : {100, 250, 1'000, 5'000}) {
    for (int failed = 0; failed < requests / 4; failed += 1 + failed / 8) {
      const double limit = errors_of(requests, failed, 1);
      double chance = 0;  // of no more errors than that in so many requests, at a share of the limit
      for (int i = 0; i <= failed; ++i) {
        chance += std::exp(std::lgamma(requests + 1.0) - std::lgamma(i + 1.0) - std::lgamma(requests - i + 1.0) +
                           i * std::log(limit) + (requests - i) * std::log1p(-limit));
      }
      EXPECT_LT(chance, 0.0003) << failed << " of " << requests;
    }
  }
}

}  // namespace judge_test
}  // namespace sluice::judge
