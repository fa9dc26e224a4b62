// The kinds of promotion as people write them, and what is wrong with them.
#include "render/promote/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"

namespace sluice::promote {
namespace kinds_test {

constexpr const char* kHead = "---\napiVersion: openchoreo.dev/v1alpha1\n";

Objects read(const std::string& text) { return read_objects(parse_yaml_stream(text, "all.yaml").value()); }

std::string faults(const std::string& text) {
  std::string all;
  for (const Error& each : read(text).faults) all += (all.empty() ? "" : "\n") + to_string(each);
  return all;
}

std::string pipeline(const std::string& spec) {
  return std::string(kHead) + "kind: DeploymentPipeline\nmetadata: {name: main}\nspec:\n" + spec;
}

TEST(PromoteKinds, APinMayHaveItsStatus) {
  const auto objects = read(std::string(kHead) + R"(kind: ReleasePin
metadata:
  name: checkout-service-production
  labels:
    openchoreo.dev/component: checkout-service
spec:
  component: checkout-service
  environment: production
  releaseName: checkout-service-20251102-1  # Points to a Release

status:
  appliedRelease: checkout-service-20251102-1
  conditions:
    - type: Ready
      status: "True"
)");
  ASSERT_TRUE(objects.faults.empty()) << to_string(objects.faults.front());
  EXPECT_EQ(objects.pins.at("checkout-service/production").value.spec.releaseName, "checkout-service-20251102-1");
}

TEST(PromoteKinds, AReferenceIsOfOneKind) {
  const std::string release = std::string(kHead) +
                              "kind: Release\nmetadata: {name: x}\nspec:\n  workload: {}\n"
                              "  componentTypeDefinition: {name: t, content: {}}\n  component:\n    name: c\n";
  EXPECT_EQ(faults(release + "    content: {}\n"), "");
  EXPECT_EQ(
      faults(release),
      "all.yaml:8:3: /spec/component: a reference has exactly one of gitRef and content, and this one has neither");
  EXPECT_EQ(faults(release + "    content: {}\n    gitRef: {repository: r, revision: a, path: p}\n"),
            "all.yaml:8:3: /spec/component: a reference has gitRef or content, not both");
}

TEST(PromoteKinds, PipelinesLeadSomewhere) {
  EXPECT_EQ(faults(pipeline("  promotionPaths:\n    - {sourceEnvironmentRef: {kind: Environment, name: a}, "
                            "targetEnvironmentRefs: [{name: b, soakSeconds: 5}]}\n")),
            "");
  EXPECT_THAT(faults(pipeline("  promotionPaths: []\n")), testing::HasSubstr("a pipeline has at least one path"));
  EXPECT_THAT(faults(pipeline("  promotionPaths:\n"
                              "    - {sourceEnvironmentRef: {name: a}, targetEnvironmentRefs: [{name: b}]}\n"
                              "    - {sourceEnvironmentRef: {name: b}, targetEnvironmentRefs: [{name: a}]}\n")),
              testing::HasSubstr("the paths lead in a circle through a"));
  EXPECT_THAT(
      faults(pipeline("  promotionPaths:\n"
                      "    - {sourceEnvironmentRef: {name: a}, targetEnvironmentRefs: [{name: b}, {name: b}]}\n")),
      testing::HasSubstr("the path from a to b stands here twice"));
  EXPECT_THAT(faults(pipeline("  promotionPaths:\n"
                              "    - {sourceEnvironmentRef: {name: a}, targetEnvironmentRefs: [{name: b}]}\n"
                              "  freezes: [{name: x, from: soon, until: later}]\n")),
              testing::HasSubstr("all.yaml:8:23: /spec/freezes/0/from: 'soon' is no time"));
}

TEST(PromoteKinds, SchemasAreChecked) {
  EXPECT_THAT(
      faults(std::string(kHead) + "kind: Addon\nmetadata: {name: x}\nspec: {schema: {parameters: {a: strin}}}\n"),
      testing::HasSubstr("/spec/schema/parameters"));
}

TEST(PromoteKinds, UnknownKindsAreNamed) {
  EXPECT_THAT(faults(std::string(kHead) + "kind: Cat\n"), testing::HasSubstr("there is no kind 'Cat' here"));
  EXPECT_EQ(read(std::string(kHead) + "kind: Cat\n").faults[0].next,
            "there are Component, ComponentTypeDefinition, Addon, Workload, EnvSettings, Release, ReleasePin and "
            "DeploymentPipeline");
  const std::string pin =
      std::string(kHead) +
      "kind: ReleasePin\nmetadata: {name: x}\nspec: {component: c, environment: e, releaseName: r}\n";
  EXPECT_THAT(faults(pin + pin), testing::HasSubstr("'c/e' stands here a second time"));
}

}  // namespace kinds_test
}  // namespace sluice::promote
