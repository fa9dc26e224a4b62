// A bundle, or objects for a cluster, never both.
#include "render/promote/target.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sluice::promote {
namespace target_test {

json::value bundle(const std::string& spec) {
  return parse_json_value(R"({"apiVersion": "sluice.dev/v1", "kind": "BundleDeployment", "metadata": {"name": "x"},
      "spec": )" + spec + "}")
      .value();
}
const json::value kMap{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "x"}}}};

std::string refused(const std::vector<json::value>& objects) {
  auto target = target_of(objects);
  return target ? "" : to_string(target.error());
}

TEST(PromoteTarget, ABundleOrObjects) {
  const auto one = target_of({bundle(R"({"bundle": "sha256:1", "replicas": 2})")}).value();
  ASSERT_TRUE(one.bundle);
  EXPECT_EQ(one.bundle->replicas, 2);
  EXPECT_TRUE(one.objects.empty());
  const auto other = target_of({kMap}).value();
  EXPECT_FALSE(other.bundle);
  EXPECT_EQ(other.objects.size(), 1U);
  EXPECT_NE(one.hash, other.hash);
  EXPECT_EQ(parse_target(one.text).value().hash, one.hash);
}

TEST(PromoteTarget, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(refused({bundle(R"({"bundle": "x"})"), kMap}),
            "a component makes a BundleDeployment or other objects, not both");
  EXPECT_EQ(refused({bundle(R"({"bundle": "x"})"), bundle(R"({"bundle": "x"})")}),
            "a component makes one BundleDeployment");
  EXPECT_NE(refused({bundle(R"({"bundle": "x", "colour": 1})")}).find("/spec/colour"), std::string::npos);
  EXPECT_EQ(refused({bundle(R"({"bundle": "x", "replicas": 0})")}), "/spec/replicas: expected 1 or more");
  EXPECT_EQ(refused({bundle(R"({"bundle": "x", "config": []})")}), "/spec/config: expected an object");
  EXPECT_FALSE(parse_target("{}"));
}

}  // namespace target_test
}  // namespace sluice::promote
