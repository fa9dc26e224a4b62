// Overlays and origins.
#include "render/component/parameters.h"

#include <gtest/gtest.h>

#include "base/yaml.h"

namespace sluice::component::parameters_test {
namespace {

TEST(Parameters, MapsMergeAndListsAreReplaced) {
  auto base = json::parse(R"({"m": {"a": 1, "b": [1, 2]}, "k": 1})");
  overlay(base, json::parse(R"({"m": {"b": [3], "c": 4}, "k": {"x": 1}})"));
  EXPECT_EQ(json::serialize(base), R"({"m":{"a":1,"b":[3],"c":4},"k":{"x":1}})");
}

TEST(Parameters, FaultsStandWhereTheWrongValueIs) {
  const auto own = *parse_yaml("spec:\n  parameters: {n: 0, s: x}\n", "component.yaml");
  const auto over = *parse_yaml("spec:\n  overrides: {n: 70}\n", "settings.yaml");
  const auto schema = *parse_yaml("spec: {schema: {parameters: {n: integer | maximum=9, s: integer}}}\n", "type.yaml");
  ParameterSchemas schemas{.parameters = schema.root.at("spec").at("schema").at("parameters")};
  std::vector<Error> faults;
  Parameters::make(schemas, schema, {&own.root.at("spec").at("parameters"), &own, "/spec/parameters"},
                   {&over.root.at("spec").at("overrides"), &over, "/spec/overrides"}, faults);
  std::string all;
  for (const auto& fault : faults) all += to_string(fault) + "\n";
  EXPECT_EQ(all,
            "settings.yaml:2:15: /spec/overrides/n: expected at most 9\n"
            "component.yaml:2:22: /spec/parameters/s: expected integer, found string\n");
}

}  // namespace
}  // namespace sluice::component::parameters_test
