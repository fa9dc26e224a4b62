// Renderings from definitions to objects. Those called ChoreoNN are scenarios of the format's first implementation.
#include "render/component/component.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render/component/testing_component.h"

namespace sluice::component::component_test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

using RenderComponent = ComponentTest;

const std::string kReplicas = "schema: {parameters: {replicas: integer | default=1}}\n";
const std::string kWithReplicas = kReplicas + kDeployment;

TEST_F(RenderComponent, Choreo01NumbersStayNumbersAndPlatformLabelsWin) {
  auto made = object({.type = kReplicas + R"(resources:
  - template:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: "${metadata.name}", labels: {openchoreo.dev/component: forged, own: "yes"}}
      spec: {replicas: "${parameters.replicas}"}
)",
                      .component = "parameters: {replicas: 3}\n"},
                     "Deployment");
  EXPECT_EQ(at(made, "/spec/replicas"), "3");
  EXPECT_EQ(at(made, "/metadata/labels"),
            R"({"openchoreo.dev/component":"shop","own":"yes","openchoreo.dev/environment":"dev"})");
  EXPECT_THAT(at(made, "/metadata/name"), MatchesRegex("\"shop-dev-[0-9a-f]{8}\""));
}

TEST_F(RenderComponent, Choreo02SettingsOverrideAndDefaultsFillEveryLevel) {
  const std::string type = R"(schema:
  envOverrides:
    resources:
      $default: {}
      cpu: string | default=100m
      memory: string | default=256Mi
resources:
  - template: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: "${parameters.resources}"}
)";
  EXPECT_EQ(at(object({.type = type}, "ConfigMap"), "/data"), R"({"cpu":"100m","memory":"256Mi"})");
  EXPECT_EQ(at(object({.type = type, .settings = "overrides: {resources: {cpu: 500m}}\n"}, "ConfigMap"), "/data"),
            R"({"cpu":"500m","memory":"256Mi"})");
}

TEST_F(RenderComponent, Choreo03WithoutADefaultOfTheObjectTheFieldIsMissing) {
  const std::string type = R"(schema:
  parameters:
    openAPIV3Schema:
      properties: {resources: {type: object, properties: {cpu: {type: string, default: 100m}}}}
resources:
  - template: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {cpu: "${parameters.resources.cpu}"}}
)";
  EXPECT_EQ(faults({.type = type}),
            "/spec/resources/0/template/data/cpu: ${parameters.resources.cpu}: no such key: 'resources'");
}

TEST_F(RenderComponent, Choreo04WhatIsRequiredMustBeThere) {
  EXPECT_EQ(faults({.type = "schema: {parameters: {replicas: integer}}\n" + std::string(kDeployment)}),
            "/spec/parameters: 'replicas' is missing");
  EXPECT_TRUE(made_.objects.empty());
}

TEST_F(RenderComponent, Choreo05WhatIsIncludedIsABool) {
  const auto with = [&](const std::string& condition) {
    return kReplicas + "resources:\n  - includeWhen: " + condition +
           "\n    forEach: ${[1, 2]}\n    var: each\n    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "
           "\"c-${each}\"}}\n";
  };
  EXPECT_EQ(object({.type = with("${parameters.replicas > 1}")}, "ConfigMap"), "there is no ConfigMap");
  EXPECT_EQ(made_.faults.size(), 0u);
  EXPECT_THAT(faults({.type = with("${each > 1}")}), HasSubstr("there is no 'each' here"));
  EXPECT_THAT(faults({.type = with("${'yes'}")}), HasSubstr("must give a bool, and gives string"));
  EXPECT_THAT(faults({.type = with("'true'")}), HasSubstr("expected one expression"));
}

TEST_F(RenderComponent, Choreo06MapsAreWalkedByTheirKeys) {
  const auto with = [&](const std::string& range) {
    return kReplicas + "resources:\n  - forEach: " + range +
           "\n    var: e\n    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"c-${e.key}\"}, data: {v: "
           "\"${e.value}\"}}\n";
  };
  render({.type = with("\"${{'b': '2', 'a': '1'}}\"")});
  ASSERT_EQ(made_.objects.size(), 2u);
  EXPECT_EQ(made_.objects[0].object.at("metadata").at("name").as_string(), "c-a");
  EXPECT_EQ(made_.objects[1].object.at("data").at("v").as_string(), "2");
  EXPECT_EQ(object({.type = with("${[]}")}, "ConfigMap"), "there is no ConfigMap");
  EXPECT_THAT(faults({.type = with("${7}")}), HasSubstr("must give a list or a map, and gives int"));
}

TEST_F(RenderComponent, Choreo07WhatIsOmittedIsGoneEverywhere) {
  auto made = object({.type = kReplicas + R"(resources:
  - template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: c}
      data: {gone: "${oc_omit()}", kept: "1"}
      list: [a, "${oc_omit()}", b]
      map: "${{'gone': oc_omit(), 'kept': 1}}"
)"},
                     "ConfigMap");
  EXPECT_EQ(at(made, "/data"), R"({"kept":"1"})");
  EXPECT_EQ(at(made, "/list"), R"(["a","b"])");
  EXPECT_EQ(at(made, "/map"), R"({"kept":1})");
}

TEST_F(RenderComponent, Choreo08TextIsPutTogetherShortly) {
  auto made = object({.type = R"(schema: {parameters: {tag: number | default=1.5, map: "map<integer> | default={}"}}
resources:
  - template: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {image: "img:${metadata.componentName}:${parameters.tag}", map: " ${parameters.map} "}}
)",
                      .component = "parameters: {map: {a: 1}}\n"},
                     "ConfigMap");
  EXPECT_EQ(at(made, "/data/image"), R"("img:shop:1.5")");
  EXPECT_EQ(at(made, "/data/map"), R"({"a":1})");
}

TEST_F(RenderComponent, Choreo09KeysAreStrings) {
  EXPECT_EQ(
      faults({.type = kReplicas + R"(resources:
  - template: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {"${parameters.replicas}": "x"}}
)"}),
      "/spec/resources/0/template/data/${parameters.replicas}: the key ${parameters.replicas} must give a string, and "
      "gives int");
}

std::string addon(const std::string& spec) {
  return "---\napiVersion: openchoreo.dev/v1alpha1\nkind: Addon\nmetadata: {name: extra}\nspec:\n" + spec;
}
const std::string kUse = "addons: [{name: extra, instanceId: one}]\n";

std::string patch(const std::string& operations, const std::string& target = "{group: apps, kind: Deployment}") {
  return addon("  patches:\n    - target: " + target + "\n      operations: " + operations + "\n");
}

TEST_F(RenderComponent, Choreo10ListsAreMadeForWhatIsAppended) {
  const Sources sources{.type = kWithReplicas,
                        .component = kUse,
                        .more = patch("[{op: add, path: /spec/template/spec/volumes/-, value: {name: data}}]")};
  EXPECT_EQ(at(object(sources, "Deployment"), "/spec/template/spec/volumes"), R"([{"name":"data"}])");
  EXPECT_THAT(faults({.type = kWithReplicas,
                      .component = kUse,
                      .more = patch("[{op: add, path: /spec/template/spec/volumes/0, value: 1}]")}),
              HasSubstr("/volumes"));
}

TEST_F(RenderComponent, Choreo11APatchThatSelectsNothingIsAnError) {
  EXPECT_THAT(
      faults({.type = kWithReplicas,
              .component = kUse,
              .more = patch("[{op: add, path: \"/spec/template/spec/containers[?(@.name=='app')]/x\", value: 1}]")}),
      HasSubstr("no item fits the filter"));
  EXPECT_THAT(
      faults({.type = kWithReplicas, .component = kUse, .more = patch("[]", "{group: apps, kind: StatefulSet}")}),
      HasSubstr("no object fits this patch: StatefulSet"));
  EXPECT_EQ(faults({.type = kWithReplicas,
                    .component = kUse,
                    .more = addon(
                        "  patches: [{target: {group: apps, kind: StatefulSet}, optional: true, operations: []}]\n")}),
            "");
}

TEST_F(RenderComponent, Choreo14RulesOverTheResultSeeEveryPatch) {
  const std::string rules =
      "postRenderValidations:\n  - target: {kind: ConfigMap}\n    rule: ${true}\n    message: m\n";
  EXPECT_THAT(faults({.type = kWithReplicas + rules}), HasSubstr("no object fits this rule: ConfigMap"));
  EXPECT_EQ(faults({.type = kWithReplicas + rules + "    mustMatch: false\n"}), "");
}

TEST_F(RenderComponent, Choreo15LaterAddonsWinAndRulesSayWhatFailed) {
  const std::string type = kWithReplicas + R"(addons: [{name: extra, instanceId: own, config: {to: 2}}]
postRenderValidations:
  - target: {group: apps, kind: Deployment}
    rule: ${resource.spec.replicas == parameters.replicas}
    message: replicas are as asked
)";
  const std::string more = addon(R"(  schema: {parameters: {to: integer}}
  patches: [{target: {group: apps, kind: Deployment}, operations: [{op: replace, path: /spec/replicas, value: "${spec.to}"}]}]
)");
  const std::string use = "parameters: {replicas: 5}\naddons: [{name: extra, instanceId: one, config: {to: 5}}]\n";
  EXPECT_EQ(at(object({.type = type, .component = use, .more = more}, "Deployment"), "/spec/replicas"), "5");
  EXPECT_THAT(
      faults({.type = type, .component = "addons: [{name: extra, instanceId: one, config: {to: 5}}]\n", .more = more}),
      HasSubstr("replicas are as asked (${resource.spec.replicas == parameters.replicas})"));
}

TEST_F(RenderComponent, Choreo16AddonsOfTheTypeTakeTheParametersOfTheComponent) {
  const std::string type =
      kWithReplicas + "addons: [{name: extra, instanceId: own, config: {size: 1Gi, to: \"${parameters.replicas}\"}}]\n";
  const std::string more = addon(R"(  schema: {parameters: {size: string, to: integer}}
  creates: [{template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${instanceId}"}, data: {size: "${spec.size}", to: "${string(spec.to)}"}}}]
)");
  EXPECT_EQ(at(object({.type = type, .more = more}, "ConfigMap"), "/data"), R"({"size":"1Gi","to":"1"})");
  EXPECT_THAT(faults({.type = type, .settings = "addonOverrides: {extra: {own: {size: 9Gi}}}\n", .more = more}),
              HasSubstr("the component uses no addon 'extra' as 'own'"));
}

TEST_F(RenderComponent, Choreo17VariablesAreReplacedInPlaceAndAppended) {
  auto made = object({.type = kReplicas + R"(resources:
  - template: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, env: "${workload.container.env}"}
)",
                      .settings = "workloadOverrides: {env: [{key: A, value: new}, {key: C, value: x}]}\n",
                      .workload = "container: {env: [{key: A, value: old}, {key: B, value: b}]}\n"},
                     "ConfigMap");
  EXPECT_EQ(at(made, "/env"), R"([{"key":"A","value":"new"},{"key":"B","value":"b"},{"key":"C","value":"x"}])");
}

TEST_F(RenderComponent, Choreo19PodsRestartWhenWhatTheyReadChanges) {
  const auto type = [&](const std::string& data, const std::string& label) {
    return kWithReplicas + "  - template: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {l: " + label +
           "}}, data: {v: " + data + "}}\n";
  };
  const std::string place = "/spec/template/metadata/annotations/sluice.dev~1config-hash";
  const auto first = at(object({.type = type("a", "x")}, "Deployment"), place);
  EXPECT_THAT(first, MatchesRegex("\"[0-9a-f]{8}\""));
  EXPECT_EQ(at(object({.type = type("a", "y")}, "Deployment"), place), first);
  EXPECT_NE(at(object({.type = type("b", "x")}, "Deployment"), place), first);
}

TEST_F(RenderComponent, InsertedTextIsNeverScannedAgain) {
  auto made = object({.type = R"(schema: {parameters: {a: string, b: string}}
resources:
  - template: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {v: "${parameters.a}-${parameters.b}"}}
)",
                      .component = "parameters: {a: \"${parameters.b}\", b: secret}\n"},
                     "ConfigMap");
  EXPECT_EQ(at(made, "/data/v"), R"("${parameters.b}-secret")");
}

TEST_F(RenderComponent, SettingsThatFitNothingAreErrors) {
  EXPECT_EQ(faults({.type = kWithReplicas, .settings = "overrides: {replica: 2}\n"}),
            "/spec/overrides/replica: there is no such parameter\n"
            "/spec/overrides/replica: there is no such field; there are replicas");
  EXPECT_EQ(
      faults(
          {.type = "schema: {parameters: {replicas: integer | default=1}, envOverrides: {cpu: string | default=1}}\n" +
                   std::string(kDeployment),
           .settings = "overrides: {replicas: 2}\n"}),
      "/spec/overrides/replicas: this parameter is not among those that an environment may override "
      "(schema.envOverrides)");
}

TEST_F(RenderComponent, ConnectionsTellWhereTheirProviderIs) {
  const std::string type = kReplicas + R"(resources:
  - template: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, env: "${dependencies.envVars}"}
)";
  const std::string provider =
      "---\napiVersion: openchoreo.dev/v1alpha1\nkind: Workload\nmetadata: {name: stock}\nspec: {image: i, endpoints: "
      "[{name: api, type: http, port: 8080}]}\n";
  const auto uses = [](const std::string& value, const std::string& endpoint) {
    return "connections: [{name: stock, type: api, params: {componentName: stock, endpoint: " + endpoint +
           "}, inject: {env: [{name: STOCK, value: \"" + value + "\"}]}}]\n";
  };
  EXPECT_EQ(
      at(object({.type = type, .more = provider, .workload = uses("{{ .host }}:{{ .port }}", "api")}, "ConfigMap"),
         "/env"),
      R"([{"key":"STOCK","value":"stock:8080"}])");
  EXPECT_THAT(faults({.type = type, .more = provider, .workload = uses("{{ .host }}", "grpc")}),
              HasSubstr("there is no endpoint 'grpc' of a component 'stock'"));
  EXPECT_THAT(faults({.type = type, .more = provider, .workload = uses("{{ .name }}", "api")}),
              HasSubstr("only {{ .host }} and {{ .port }} are filled in"));
}

TEST_F(RenderComponent, TwoObjectsOfOneNameAreRefused) {
  EXPECT_THAT(faults({.type = kReplicas + R"(resources:
  - {id: a, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}}
  - {id: b, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}}
)"}),
              HasSubstr("two objects are ConfigMap v1  c"));
}

}  // namespace
}  // namespace sluice::component::component_test
