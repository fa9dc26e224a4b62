// Which rollouts wait for a verdict.
#include "deploy/views/judged.h"

#include <gtest/gtest.h>

#include "deploy/testing_rollouts.h"

namespace sluice::deploy::views {
namespace judged_test {

TEST(Judged, AnOpenAnalysisLeadsToItsRolloutAndRouters) {
  RolloutRows rows;
  auto all = judged(rows);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].analysis, "a1");
  EXPECT_EQ(all[0].rollout, rows.kRollout.text());
  EXPECT_EQ(all[0].canary_name, "shop@2");
  EXPECT_EQ(all[0].baseline_name, "shop@1");
  EXPECT_EQ(all[0].weight_bps, 5'000);
  ASSERT_EQ(all[0].routers.size(), 1U);
  EXPECT_EQ(all[0].routers[0].name, "main");
}

TEST(Judged, WhatNobodyJudgesIsLeftOut) {
  RolloutRows rows;
  rollout::State(rows.rows).edit(rows.kRollout, [](rollout::RolloutRecord& record) { record.judging.reset(); });
  EXPECT_TRUE(judged(rows).empty());
}

}  // namespace judged_test
}  // namespace sluice::deploy::views
