// What is said of expressions before anything is rendered.
#include "render/component/check.h"

#include <gtest/gtest.h>

#include "base/yaml.h"

namespace sluice::component {
namespace check_test {

// The faults, one a line, each "line: message".
std::string faults(const std::string& kind, const std::string& spec) {
  auto documents = parse_yaml_stream(
      "apiVersion: openchoreo.dev/v1alpha1\nkind: " + kind + "\nmetadata: {name: it}\nspec:\n" + spec, "it.yaml");
  EXPECT_TRUE(documents) << to_string(documents.error());
  const auto kinds = read_kinds(*std::move(documents));
  EXPECT_TRUE(kinds.faults.empty()) << to_string(kinds.faults.front());
  auto found = kind == "Addon" ? check_expressions(kinds.addons.begin()->second)
                               : check_expressions(kinds.types.begin()->second);
  std::string all;
  for (const Error& each : found) {
    all += (all.empty() ? "" : "\n") + std::to_string(each.position ? each.position->line : 0) + ": " + each.message;
  }
  return all;
}

constexpr const char* kSchema =
    "  schema:\n    parameters: {replicas: integer | default=1, hosts: \"[]string | default=[]\"}\n"
    "    envOverrides: {zone: string | default=a}\n";

std::string type_faults(const std::string& rest) {
  return faults("ComponentTypeDefinition", std::string("  workloadType: deployment\n") + kSchema + rest);
}

TEST(CheckExpressions, WhatFitsItsSchemasIsSound) {
  EXPECT_EQ(type_faults(R"(  preRenderValidations: [{rule: "${parameters.replicas > 0}", message: no}]
  postRenderValidations:
    - {target: {kind: Deployment, where: "${resource.spec.replicas > 0}"}, rule: "${has(resource.spec)}", message: no}
  resources:
    - id: deployment
      includeWhen: ${parameters.zone == 'a'}
      forEach: ${parameters.hosts}
      var: host
      template: {"${host}": "${host + metadata.name}", plain: text, n: "${spec.replicas + 1}"}
)"),
            "");
}

TEST(CheckExpressions, EachFaultHasItsPlace) {
  EXPECT_EQ(type_faults(R"(  resources:
    - template:
        name: ${parameters.replica}
        sum: ${parameters.replicas + 1.5}
        broken: ${1 +}
    - includeWhen: ${parameters.replicas}
      template: {}
    - forEach: ${parameters.replicas}
      template: {}
    - template: {"${parameters.replicas}": 1}
)"),
            "11: ${parameters.replica}: there is no 'replica' here; there are hosts, replicas, zone\n"
            "12: ${parameters.replicas + 1.5}: no '+' takes (int, double)\n"
            "13: ${1 +}: the expression ends too early\n"
            "14: ${parameters.replicas} must give a bool, and gives int\n"
            "16: ${parameters.replicas} must give a list or a map, and gives int\n"
            "18: the key ${parameters.replicas} must give a string, and gives int");
}

TEST(CheckExpressions, AddonsAreCheckedAsWell) {
  EXPECT_EQ(faults("Addon", std::string(kSchema) + R"(  creates: [{template: {a: "${instanceId + 1}"}}]
  patches:
    - target: {kind: Deployment, where: "${resource.a}"}
      operations: [{op: add, path: "/a/${parameters.none}", value: "${parameters.hosts[0] + 1}"}]
)"),
            "8: ${instanceId + 1}: no '+' takes (string, int)\n"
            "11: ${parameters.none}: there is no 'none' here; there are hosts, replicas, zone\n"
            "11: ${parameters.hosts[0] + 1}: no '+' takes (string, int)");
}

}  // namespace check_test
}  // namespace sluice::component
