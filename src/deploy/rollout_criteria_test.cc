// Criteria as text: defaults, what is refused, and what the judge is given.
#include "deploy/rollout_criteria.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::deploy {
namespace rollout_criteria_test {

using testing::HasSubstr;

std::string refused(std::string_view text) { return parse_criteria(text).error().message; }

TEST(RolloutCriteria, NothingMeansTheDefaults) {
  EXPECT_EQ(parse_criteria("").value().interval, 10);
  EXPECT_EQ(parse_criteria("{}").value().latencyFloor, 5);
}

TEST(RolloutCriteria, BecomeTheJudgesSettings) {
  auto settings = settings_of(parse_criteria(R"({"maxErrorRate": 0.01, "maxLatencyP99": 500, "warmUp": 0})").value());
  EXPECT_EQ(settings.max_error_rate, 0.01);
  EXPECT_EQ(settings.max_latency_p99_ms, 500);
  EXPECT_EQ(settings.warm_up_s, 0);
}

TEST(RolloutCriteria, WhatNoJudgeCanBeMadeOfIsRefused) {
  EXPECT_EQ(refused(R"({"interval": 7200})"), "criteria: interval is 1 to 3600 seconds");
  EXPECT_EQ(refused(R"({"latencyFloor": -1})"), "criteria: latencyFloor is 0 to 10000 milliseconds");
  EXPECT_THAT(refused(R"({"alpha": 2})"), HasSubstr("criteria: "));
  EXPECT_THAT(refused(R"({"patience": 1})"), HasSubstr("patience"));
  EXPECT_THAT(refused("no"), HasSubstr("criteria: "));
  const std::string source =
      R"({"type": "prometheus", "url": "http://prometheus.example", "requests": "a", "failed": "b"})";
  EXPECT_EQ(refused(R"({"maxLatencyP99": 500, "source": )" + source + "}"),
            "criteria: maxLatencyP99 needs the source's query latency");
}

}  // namespace rollout_criteria_test
}  // namespace sluice::deploy
