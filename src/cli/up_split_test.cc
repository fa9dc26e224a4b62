// Shares after an up, and what stays warm.
#include "cli/up_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/testing_views.h"

namespace sluice::cli {
namespace up_split_test {

using testing::ElementsAre;

TEST(UpSplit, EverythingUnlessItIsACanaryBesideOthers) {
  const Weights all = {{"new", 10'000}};
  EXPECT_EQ(wanted_split({}, "new", std::nullopt), all);
  EXPECT_EQ(wanted_split({}, "new", 500), all) << "there is nobody else";
  EXPECT_EQ(wanted_split({{"old", 10'000}}, "new", std::nullopt), all);
  EXPECT_EQ(wanted_split(all, "new", 500), all) << "it has everything already";
}

TEST(UpSplit, OthersKeepTheirProportionBesideACanary) {
  EXPECT_EQ(wanted_split({{"old", 10'000}}, "new", 500), (Weights{{"new", 500}, {"old", 9'500}}));
  EXPECT_EQ(wanted_split({{"new", 500}, {"old", 9'500}}, "new", 1'000), (Weights{{"new", 1'000}, {"old", 9'000}}));
  const Weights three = wanted_split({{"a", 3'333}, {"b", 3'333}, {"c", 3'334}}, "new", 1);
  EXPECT_EQ(three, (Weights{{"new", 1}, {"a", 3'334}, {"b", 3'332}, {"c", 3'333}})) << "and the sum is all";
}

TEST(UpSplit, TheOrderOfASplitIsNoMatter) {
  EXPECT_TRUE(is_same_split({{"a", 1}, {"b", 9'999}}, {{"b", 9'999}, {"a", 1}}));
  EXPECT_FALSE(is_same_split({{"a", 1}, {"b", 9'999}}, {{"a", 9'999}, {"b", 1}}));
}

TEST(UpSplit, WhatServedBeforeStaysForTheWayBack) {
  using deploy::revision::RevisionLifecycle;
  deploy::RowsInMemory rows;
  rows.deployment("d");
  for (int n = 1; n <= 4; ++n) rows.revision("r" + std::to_string(n), "d", n);
  rows.revision("failed", "d", 5, RevisionLifecycle::failed);
  rows.split("d", {{"r4", 10'000}});
  auto left = [&] {
    std::vector<std::string> ids;
    for (const auto& each : left_behind(deploy::views::States(rows), "d", "r4")) ids.push_back(each.id.text());
    return ids;
  };
  EXPECT_THAT(left(), ElementsAre("r1", "r2")) << "the newest, where nothing served before";
  auto past = deploy::traffic::State(rows.rows).past(deploy::traffic::TrafficId("d"));
  past.push({.generation = 1, .entries = {{"r2", 10'000}}});
  past.push({.generation = 2, .entries = {{"r1", 10'000}, {"r3", 0}}});
  EXPECT_THAT(left(), ElementsAre("r2", "r3"));
  rows.split("d", {{"r4", 5'000}, {"r3", 5'000}});
  EXPECT_THAT(left(), ElementsAre("r2")) << "and whatever serves";
}

}  // namespace up_split_test
}  // namespace sluice::cli
