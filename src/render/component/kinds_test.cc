// Reading kinds, strictly.
#include "render/component/kinds.h"

#include <gtest/gtest.h>

#include "base/yaml.h"

namespace sluice::component::kinds_test {
namespace {

std::string faults(const std::string& text) {
  std::string all;
  for (const auto& fault : read_kinds(*parse_yaml_stream(text, "k.yaml")).faults) all += to_string(fault) + "\n";
  return all;
}

const std::string kHead = "apiVersion: openchoreo.dev/v1alpha1\n";

TEST(Kinds, AllFaultsHaveTheirPlace) {
  EXPECT_EQ(faults(kHead + "kind: Component\nmetadata: {name: a}\nspec: {componentType: t, parametres: {}}\n---\n" +
                   kHead + "kind: Deployment\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Component\n"),
            "k.yaml:4:26: /spec/parametres: unknown field, did you mean \"parameters\"?\n"
            "k.yaml:7:1: /kind: there is no kind 'Deployment' here\n"
            "k.yaml:10:1: /apiVersion: expected apiVersion openchoreo.dev/v1alpha1, found 'v1'\n");
}

TEST(Kinds, ANameStandsOnceInAKind) {
  const auto component = kHead + "kind: Component\nmetadata: {name: a}\nspec: {componentType: t}\n";
  EXPECT_EQ(faults(component + "---\n" + component),
            "k.yaml:8:12: /metadata/name: 'a' stands here a second time; first at k.yaml:3:12\n");
}

TEST(Kinds, SettingsBelongToAComponentInAnEnvironment) {
  const auto kinds = read_kinds(*parse_yaml_stream(
      kHead + "kind: EnvSettings\nmetadata: {name: any}\nspec: {owner: {componentName: a}, environment: dev}\n",
      "k.yaml"));
  EXPECT_TRUE(kinds.faults.empty());
  EXPECT_EQ(kinds.settings.count("a/dev"), 1u);
}

}  // namespace
}  // namespace sluice::component::kinds_test
