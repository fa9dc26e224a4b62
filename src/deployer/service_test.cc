// The seven tools; paths are asked in tests/kube.
#include "deployer/service.h"

#include <gtest/gtest.h>

namespace sluice::deployer {
namespace service_test {

TEST(DeploymentTools, AreSevenWithSchemasOfTheirOwn) {
  const auto tools = deployment_tools(nullptr);
  ASSERT_EQ(tools.size(), 7U);
  EXPECT_EQ(tools[0].name, "deployment.render");
  const auto properties = [](const mcp::Tool& tool) { return tool.input.at("properties").as_object(); };
  EXPECT_FALSE(properties(tools[0]).contains("rollbackSnapshotId"));
  EXPECT_TRUE(properties(tools[6]).contains("rollbackSnapshotId"));
  for (const mcp::Tool& each : tools) EXPECT_FALSE(properties(each).contains("action")) << each.name;
  EXPECT_FALSE(mcp::check_arguments(tools[0], {{"hostId", "h"}}));
  EXPECT_EQ(tools[4].effect, lang::Impact::destroys);
}

TEST(Service, ADevelopersPolicyAdmitsCallersOfThisMachineAlone) {
  kube::Policy policy;
  EXPECT_FALSE(admits_without_token(policy, "127.0.0.1"));
  policy.devInsecure = true;
  for (const char* here : {"127.0.0.1", "127.9.8.7", "::1"}) EXPECT_TRUE(admits_without_token(policy, here)) << here;
  for (const char* away : {"10.0.0.1", "128.0.0.1", "::ffff:10.0.0.1", "fe80::1", "::127.0.0.1", ""}) {
    EXPECT_FALSE(admits_without_token(policy, away)) << away;
  }
}

}  // namespace service_test
}  // namespace sluice::deployer
