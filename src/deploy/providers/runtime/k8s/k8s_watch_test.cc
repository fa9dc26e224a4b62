// What is committed and what the cluster says are compared; the rest is tested on a cluster (tests/kube).
#include "deploy/providers/runtime/k8s/k8s_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "k8s_runtime.gen.h"

namespace sluice::deploy::k8s_runtime::k8s_watch_test {

TEST(K8sWatch, TellsNothingOfAClusterThatSaysNothing) {
  RealDisk disk;
  RealClock clock;
  process::RealRunner runner(clock);
  ClusterPods pods(disk, clock, runner, [](const std::string&) { return std::nullopt; });
  K8sWatch watch(pods, clock);
  EXPECT_EQ(watch.concept_name(), "K8sRuntime");
  size_t told = 0;
  watch.look([&](const std::string&, const json::object&) { told++; });
  EXPECT_EQ(told, 0U);
}

}  // namespace sluice::deploy::k8s_runtime::k8s_watch_test
