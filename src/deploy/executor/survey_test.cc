// What is there beside what is wanted.
#include "deploy/executor/survey.h"

#include <gtest/gtest.h>

#include "deploy/executor/testing_cluster.h"

namespace sluice::deploy::executor {
namespace survey_test {

TEST(Survey, WhatIsNotWantedGoesUnlessThePolicyKeepsIt) {
  kube::Inventory inventory;
  for (const char* name : {"a", "b", "c"}) {
    inventory.objects.push_back({{.api_version = "v1", .kind = "ConfigMap", .name_space = "shop", .name = name}, "u"});
  }
  const std::vector<Piece> wanted = {piece_of(inventory.objects[0].ref)};
  kube::Policy policy;
  auto goes = superfluous(inventory, wanted, policy);
  ASSERT_EQ(goes.size(), 2U);
  EXPECT_EQ(goes[0].action, "pruned");
  EXPECT_FALSE(override_for(policy, goes, 3).empty());
  policy.prune.enabled = false;
  goes = superfluous(inventory, wanted, policy);
  EXPECT_EQ(goes[0].action, "orphaned");
  EXPECT_TRUE(override_for(policy, goes, 3).empty());
}

TEST(Survey, AnObjectOfAnotherInstanceIsLeftAlone) {
  TestingCluster cluster;
  const Request request{.id = "r", .host = "h", .instance = "i", .name_space = "shop"};
  Rendered wanted;
  wanted.objects.push_back(
      {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}, {"namespace", "shop"}}}});
  rendering::place(wanted.objects[0], "shop", false, request.labels());
  auto seen = surveyed(cluster.client(), request, wanted, {.new_ones = true});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->at(0).piece.action, "added");
  boost::json::value live = wanted.objects[0];
  cluster.server.put(std::string(kMaps) + "/a", live);
  EXPECT_EQ(surveyed(cluster.client(), request, wanted, {})->at(0).piece.action, "unchanged");
  live.at("metadata").at("labels").as_object()[rendering::kInstanceLabel] = "other";
  cluster.server.put(std::string(kMaps) + "/a", live);
  EXPECT_EQ(surveyed(cluster.client(), request, wanted, {}).refusal().message,
            "ConfigMap/a in shop: it belongs to the instance other of the host h; nothing was changed");
}

}  // namespace survey_test
}  // namespace sluice::deploy::executor
