// What is applied for one deployment.
#include "deploy/providers/runtime/k8s/pod_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "kube/object.h"

namespace sluice::deploy::k8s_runtime::pod_objects_test {

TEST(PodObjects, ArePodsThatPassTheRestrictedStandard) {
  auto manifest = bundle::parse_manifest(
      "name: shop\nversion: \"1\"\nimage: registry.example/shop:1\nsecrets: [KEY]\nsecrets_as: env\n");
  ASSERT_TRUE(manifest);
  PodPlan plan{.service = "01J",
               .serial = 2,
               .name_space = "shop",
               .image = "registry.example/shop@sha256:aa",
               .replicas = 3,
               .manifest = *manifest,
               .variables = {{"SLUICE_REVISION", "r1"}},
               .secrets = {{"KEY", "sesame"}}};
  auto objects = objects_of(plan);
  ASSERT_EQ(objects.size(), 4U);
  for (const json::value& each : objects) {
    EXPECT_EQ(kube::text_at(each, {"metadata", "name"}), "sl-01j-2");
    EXPECT_EQ(kube::text_at(each, {"metadata", "labels", "sluice.dev/revision"}), "r1");
  }
  const json::value& pod = kube::at(objects[2], {"spec", "template", "spec"});
  EXPECT_TRUE(kube::flag_at(pod, {"securityContext", "runAsNonRoot"}));
  EXPECT_EQ(kube::number_at(pod, {"securityContext", "runAsUser"}), 65532);
  EXPECT_EQ(kube::text_at(pod, {"securityContext", "seccompProfile", "type"}), "RuntimeDefault");
  EXPECT_FALSE(kube::flag_at(pod, {"automountServiceAccountToken"}));
  const json::value& container = kube::list_at(pod, {"containers"}).front();
  EXPECT_TRUE(kube::flag_at(container, {"securityContext", "readOnlyRootFilesystem"}));
  EXPECT_FALSE(kube::flag_at(container, {"securityContext", "allowPrivilegeEscalation"}));
  EXPECT_EQ(kube::list_at(container, {"securityContext", "capabilities", "drop"}).front(), "ALL");
  // A secret is in the Secret alone.
  EXPECT_EQ(kube::text_at(objects[1], {"stringData", "KEY"}), "sesame");
  EXPECT_EQ(write(objects[2]).find("sesame"), std::string::npos);
}

}  // namespace sluice::deploy::k8s_runtime::pod_objects_test
