// What is there beside what is wanted.
#include "deploy/executor/survey.h"

#include <gtest/gtest.h>

#include <atomic>

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

TEST(Survey, AKindWithoutNamespacesIsKnownByDiscovery) {
  TestingCluster cluster;
  const Request request{.id = "r", .host = "h", .instance = "i", .name_space = "shop"};
  Rendered wanted;
  for (const auto& [version, kind] : {std::pair{"acme.example/v1", "Gizmo"}, {"v1", "ConfigMap"}}) {
    wanted.objects.push_back({{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", "g"}}}});
    rendering::place(wanted.objects.back(), "shop", false, request.labels());
  }
  cluster.server.instead = [](const http::Request& asked) -> std::optional<http::Response> {
    if (asked.target != "/apis/acme.example/v1") return std::nullopt;
    return http::Response{.body = R"({"resources":[{"name":"gizmos","kind":"Gizmo","namespaced":false,"verbs":[]}]})"};
  };
  auto seen = surveyed(cluster.client(), request, wanted, {});
  ASSERT_TRUE(seen) << seen.refusal().message;
  EXPECT_EQ(seen->at(0).piece.name_space, "");
  EXPECT_FALSE(wanted.objects.at(0).at("metadata").as_object().contains("namespace"));
  EXPECT_EQ(seen->at(1).piece.name_space, "shop");
}

TEST(Survey, ManyOfAKindAreListedAndNotAskedForOneByOne) {
  TestingCluster cluster;
  const Request request{.id = "r", .host = "h", .instance = "i", .name_space = "shop"};
  Rendered wanted;
  for (int i = 0; i < 20; ++i) {
    wanted.objects.push_back({{"apiVersion", "v1"},
                              {"kind", "ConfigMap"},
                              {"metadata", {{"name", "m" + std::to_string(i)}, {"namespace", "shop"}}}});
    rendering::place(wanted.objects.back(), "shop", false, request.labels());
  }
  std::atomic<int> lists = 0, reads = 0;
  std::atomic<bool> is_forbidden = false;
  cluster.server.instead = [&](const http::Request& asked) -> std::optional<http::Response> {
    const std::string path = asked.target.substr(0, asked.target.find('?'));
    if (path.starts_with(std::string(kMaps) + "/")) ++reads;
    if (path != kMaps) return std::nullopt;
    ++lists;
    if (is_forbidden) return TestingApiServer::refusal(403, "Forbidden", "you may not");
    return http::Response{.body = R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"m3"}}]})"};
  };
  auto seen = surveyed(cluster.client(), request, wanted, {});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->size(), 20U);
  for (const Seen& each : *seen) EXPECT_EQ(each.piece.action, "added");
  EXPECT_EQ(lists, 1);
  EXPECT_EQ(reads, 1) << "m3 may be there";
  is_forbidden = true;
  ASSERT_TRUE(surveyed(cluster.client(), request, wanted, {}));
  EXPECT_EQ(reads, 21) << "who may not list asks for each";
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
