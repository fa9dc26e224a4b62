// What explain() says of values.
#include <gtest/gtest.h>

#include "render/component/testing_component.h"

namespace sluice::component::explain_test {
namespace {

using ExplainComponent = ComponentTest;

const std::string kType = "schema: {parameters: {replicas: integer | default=1}}\n" + std::string(kDeployment);

TEST_F(ExplainComponent, AValueNamesWhoSetItAndWhatThatDisplaced) {
  render({.type = kType, .component = "parameters: {replicas: 3}\n", .settings = "overrides: {replicas: 5}\n"});
  const auto explained = explain(made_, "Deployment", "/spec/replicas");
  ASSERT_TRUE(explained) << to_string(explained.error());
  EXPECT_EQ(json::serialize(explained->value), "5");
  ASSERT_EQ(explained->written.size(), 1u);
  EXPECT_EQ(explained->written[0]->text, "${parameters.replicas}");
  ASSERT_TRUE(explained->written[0]->position);
  ASSERT_EQ(explained->inputs.size(), 1u);
  EXPECT_EQ(explained->inputs[0].name, "parameters.replicas");
  std::string owners;
  for (const auto& origin : explained->inputs[0].origins)
    owners += origin.owner + "=" + json::serialize(origin.value) + " ";
  EXPECT_EQ(owners, "settings=5 component=3 default=1 ");
  EXPECT_EQ(explained->inputs[0].origins[0].position->file, "all.yaml");
}

TEST_F(ExplainComponent, APatchSaysWhatItDisplaced) {
  render({.type = kType,
          .component = "addons: [{name: extra, instanceId: one}]\n",
          .more = "---\napiVersion: openchoreo.dev/v1alpha1\nkind: Addon\nmetadata: {name: extra}\nspec:\n"
                  "  patches: [{target: {group: apps, kind: Deployment}, operations: [{op: replace, path: "
                  "/spec/replicas, value: 9}]}]\n"});
  const auto explained = explain(made_, "Deployment", "/spec/replicas");
  ASSERT_TRUE(explained);
  ASSERT_EQ(explained->written.size(), 2u);
  EXPECT_EQ(explained->written[1]->text, "/spec/replicas");
  EXPECT_EQ(json::serialize(*explained->written[1]->displaced), "1");
}

TEST_F(ExplainComponent, WhatIsNotThereIsNotFound) {
  render({.type = kType});
  EXPECT_EQ(explain(made_, "Service", "/spec").error().message, "there is no object Service");
  EXPECT_EQ(explain(made_, "Deployment", "/spec/none").error().code, Code::not_found);
}

}  // namespace
}  // namespace sluice::component::explain_test
