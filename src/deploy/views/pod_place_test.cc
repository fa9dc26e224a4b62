// What a deployer was set up with.
#include "deploy/views/pod_place.h"

#include <gtest/gtest.h>

namespace sluice::deploy::views {
namespace pod_place_test {

TEST(PodPlace, IsWhatTheAnswersSay) {
  const PodPlace place = pod_place_in(R"({"kubeconfig_context":"prod","namespace":"shop"})");
  EXPECT_EQ(place.context, "prod");
  EXPECT_EQ(place.name_space, "shop");
  EXPECT_EQ(pod_place_in(R"({"namespace":7})"), PodPlace{});
  EXPECT_EQ(pod_place_in("nonsense"), PodPlace{});
}

}  // namespace pod_place_test
}  // namespace sluice::deploy::views
