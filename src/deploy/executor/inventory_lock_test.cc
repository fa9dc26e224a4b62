// One holds the lock, everybody else hears who.
#include "deploy/executor/inventory_lock.h"

#include <gtest/gtest.h>

#include "deploy/executor/testing_cluster.h"

namespace sluice::deploy::executor {
namespace inventory_lock_test {

TEST(InventoryLock, IsHeldByOneUntilItIsGivenBack) {
  TestingCluster cluster;
  const kube::Policy policy = *cluster.means.policy();
  const Request mine{.id = "r1", .host = "h", .instance = "i", .name_space = "shop"};
  Request theirs = mine;
  theirs.id = "r2";
  auto empty = inventory_of(cluster.client(), policy, mine);
  ASSERT_TRUE(empty);
  kube::Inventory listed = *empty;
  listed.objects.push_back({{.api_version = "v1", .kind = "ConfigMap", .name_space = "shop", .name = "a"}, "u"});
  ASSERT_TRUE(lock_taken(cluster.client(), cluster.clock, policy, mine, listed));
  // Who has read it before is too late.
  EXPECT_EQ(lock_taken(cluster.client(), cluster.clock, policy, theirs, *empty).refusal().why, "busy");
  auto now = inventory_of(cluster.client(), policy, theirs);
  EXPECT_TRUE(holder_of(*now, cluster.clock, theirs).starts_with("the request r1 of local-light-deployer is at work"));
  EXPECT_EQ(holder_of(*now, cluster.clock, mine), "");
  EXPECT_FALSE(Held(cluster.client(), cluster.clock, mine).renew());
  EXPECT_EQ(Held(cluster.client(), cluster.clock, theirs).renew()->message, "the lock of i was lost to the request r1");
  Request gone = mine;
  gone.instance = "gone";
  EXPECT_EQ(Held(cluster.client(), cluster.clock, gone).renew()->message, "the lock of gone was lost");
  EXPECT_FALSE(Held(cluster.client(), cluster.clock, gone, true).renew()) << "it goes with its namespace";
  EXPECT_FALSE(settled(cluster.client(), theirs, [](kube::Inventory& inventory) { inventory.objects.clear(); }));
  EXPECT_EQ(inventory_of(cluster.client(), policy, mine)->objects.size(), 1U);
  EXPECT_FALSE(settled(cluster.client(), mine, [](kube::Inventory& inventory) { inventory.snapshot = "r1"; }));
  now = inventory_of(cluster.client(), policy, theirs);
  EXPECT_EQ(now->snapshot, "r1");
  EXPECT_EQ(holder_of(*now, cluster.clock, theirs), "");
  now->lock = {.request = "r0", .deployer = "gone", .until_ms = cluster.clock.wall_ms() - 1};
  EXPECT_EQ(holder_of(*now, cluster.clock, theirs), "") << "its lease has ended";
}

TEST(InventoryLock, BeginsWithWhatLightDeployerHasAppliedItself) {
  TestingCluster cluster;
  cluster.policy("allowedKinds: ['*']\n");
  cluster.server.instead = [](const http::Request& asked) -> std::optional<http::Response> {
    const std::string path = asked.target.substr(0, asked.target.find('?'));
    if (path == "/api/v1/namespaces/shop/secrets") return TestingApiServer::refusal(403, "Forbidden", "you may not");
    if (path != kMaps) return std::nullopt;
    return http::Response{.body = R"({"metadata":{"resourceVersion":"1"},"items":[
        {"metadata":{"name":"own","uid":"u1","managedFields":[{"manager":"light-deployer","operation":"Apply"}]}},
        {"metadata":{"name":"made","uid":"u2","managedFields":[{"manager":"controller","operation":"Update"}]}}]})"};
  };
  const Request request{.id = "r1", .host = "h", .instance = "i", .name_space = "shop"};
  auto seeded = inventory_of(cluster.client(), *cluster.means.policy(), request);
  ASSERT_TRUE(seeded) << seeded.refusal().message;
  ASSERT_EQ(seeded->objects.size(), 1U);
  EXPECT_EQ(seeded->objects[0].ref.name, "own");
  EXPECT_EQ(seeded->version, "");
}

}  // namespace inventory_lock_test
}  // namespace sluice::deploy::executor
