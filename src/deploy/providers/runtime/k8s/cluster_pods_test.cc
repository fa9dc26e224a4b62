// What an EndpointSlice says, and a bundle that no cluster runs; the rest is tested on a cluster (tests/kube).
#include "deploy/providers/runtime/k8s/cluster_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/real_disk.h"

namespace sluice::deploy::k8s_runtime::cluster_pods_test {

using testing::ElementsAre;

TEST(ClusterPods, AReadyEndpointIsOne) {
  auto slice = parse_json(R"({"ports":[{"port":8080}],"endpoints":[
    {"addresses":["10.0.0.2"],"conditions":{"ready":false},"targetRef":{"name":"b"}},
    {"addresses":["10.0.0.1"],"conditions":{"ready":true},"targetRef":{"name":"a"}}]})");
  ASSERT_TRUE(slice);
  EXPECT_THAT(ready_in(slice->root), ElementsAre(Pod{.name = "a", .endpoint = "http://10.0.0.1:8080"}));
  EXPECT_THAT(ready_in(json::object{{"endpoints", nullptr}, {"ports", nullptr}}), ElementsAre());
}

TEST(ClusterPods, AnArtifactThatIsNotThereIsNoBundle) {
  RealDisk disk;
  RealClock clock;
  process::RealRunner runner(clock);
  ClusterPods pods(disk, clock, runner, [](const std::string&) { return std::nullopt; });
  EXPECT_FALSE(pods.open("/no/such/bundle"));
}

TEST(ClusterPods, WithoutAKubeconfigThereIsNoCluster) {
  RealDisk disk;
  RealClock clock;
  process::RealRunner runner(clock);
  ClusterPods pods(disk, clock, runner, [](const std::string&) { return std::nullopt; });
  auto brought = pods.await({}, "01J", 1, 1, 0, [] { return false; });
  EXPECT_EQ(std::get<Misfortune>(brought).kind, Misfortune::Kind::unavailable);
  EXPECT_FALSE(rights_of(pods).name_space({}));
}

}  // namespace sluice::deploy::k8s_runtime::cluster_pods_test
