// What a config may say.
#include "deploy/providers/runtime/k8s/k8s_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::deploy::k8s_runtime::k8s_settings_test {

TEST(K8sSettings, AreReadStrictly) {
  auto read = parse_k8s_settings(R"({"replicas":3,"variables":{"A":"1"},"config":{"color":"blue"}})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->replicas, 3U);
  EXPECT_EQ(read->variables.at("A"), "1");
  EXPECT_EQ(parse_k8s_settings("")->replicas, 1U);
  EXPECT_EQ(parse_k8s_settings(R"({"replicas":1001})").error().message, "expected 1 to 1000 replicas");
  EXPECT_EQ(parse_k8s_settings(R"({"config":[]})").error().path, "/config");
  EXPECT_FALSE(parse_k8s_settings(R"({"port":1})"));
}

}  // namespace sluice::deploy::k8s_runtime::k8s_settings_test
