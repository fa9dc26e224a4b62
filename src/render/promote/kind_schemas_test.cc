// That each kind has a schema, and that it says what its reader says.
#include "render/promote/kind_schemas.h"

#include <gtest/gtest.h>

namespace sluice::promote {
namespace kind_schemas_test {

TEST(KindSchemas, EachKindHasOne) {
  for (const char* kind : {"Component", "ComponentTypeDefinition", "Addon", "Workload", "EnvSettings", "Release",
                           "ReleasePin", "DeploymentPipeline"}) {
    const auto schema = schema_of_kind(kind);
    ASSERT_TRUE(schema) << kind;
    EXPECT_EQ(schema->at("properties").at("kind").at("const"), boost::json::value(kind));
  }
  EXPECT_FALSE(schema_of_kind("Cat"));
}

TEST(KindSchemas, APinSaysWhatItNeeds) {
  const auto schema = schema_of_kind("ReleasePin").value();
  const auto& spec = schema.at("$defs").at("promote.ReleasePinSpec");
  EXPECT_EQ(spec.at("required"), (boost::json::value{"component", "environment", "releaseName"}));
  EXPECT_EQ(spec.at("properties").at("state").at("enum"), (boost::json::value{"Active", "Undeploy"}));
  EXPECT_EQ(spec.at("additionalProperties"), boost::json::value(false));
}

}  // namespace kind_schemas_test
}  // namespace sluice::promote
