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

}  // namespace service_test
}  // namespace sluice::deployer
