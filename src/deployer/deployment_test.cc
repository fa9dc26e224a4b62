// Bodies are read strictly.
#include "deployer/deployment.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sluice::deployer {
namespace deployment_test {

json::object body(const char* more = "{}") {
  json::object made{
      {"hostId", "h"}, {"instanceId", "i"}, {"environment", "local"}, {"clusterId", "c"}, {"namespace", "n"}};
  const auto given = parse_json_value(more);
  for (const auto& each : given->as_object()) made[each.key()] = each.value();
  return made;
}

TEST(DeploymentRequest, IsReadStrictly) {
  EXPECT_EQ(*read_request(body(), "status")->action, "status");
  EXPECT_EQ(read_request(body(R"({"action":"deploy","template":{"repoUrl":"local"}})"), "")->template_->repoUrl,
            "local");
  EXPECT_EQ(read_request(body(), "").error().path, "/action");
  EXPECT_EQ(read_request(body(), "deploy").error().path, "/template");
  EXPECT_FALSE(read_request(body(R"({"more":1})"), "status"));
  EXPECT_EQ(read_request(body(R"({"valuesRef":{"source":"a","path":"b"}})"), "status").error().path, "/valuesRef");
  EXPECT_EQ(read_request(body(R"({"values":[]})"), "status").error().path, "/values");
  EXPECT_EQ(failed("deploy", "busy", "wait", 409).response.error->code, "busy");
}

}  // namespace deployment_test
}  // namespace sluice::deployer
