// One identity for every way of writing a release, and what cannot be resolved.
#include "render/promote/content.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/yaml.h"
#include "render/promote/gzip.h"

namespace sluice::promote {
namespace content_test {

using testing::HasSubstr;

constexpr const char* kType =
    "apiVersion: openchoreo.dev/v1alpha1\nkind: ComponentTypeDefinition\n"
    "metadata: {name: web}\nspec: {workloadType: deployment, resources: []}\n";
constexpr const char* kComponent =
    "apiVersion: openchoreo.dev/v1alpha1\nkind: Component\nmetadata: {name: shop}\n"
    "spec: {componentType: deployment/web, parameters: {replicas: 2}, addons: [{name: disk, instanceId: a}]}\n";
constexpr const char* kAddon = "apiVersion: openchoreo.dev/v1alpha1\nkind: Addon\nmetadata: {name: disk}\nspec: {}\n";
constexpr const char* kWorkload =
    "apiVersion: openchoreo.dev/v1alpha1\nkind: Workload\nmetadata: {name: shop}\n"
    "spec: {image: registry.example/shop:1}\n";

json::value yaml(const std::string& text) { return parse_yaml(text).value().root; }

ReleaseSpec spec() {
  return {.component = {.name = "shop", .content = yaml(kComponent)},
          .componentTypeDefinition = {.name = "web", .content = yaml(kType)},
          .addons = {{.name = "disk", .instanceId = "a", .content = yaml(kAddon)}},
          .workload = yaml(kWorkload)};
}
std::string identity(const ReleaseSpec& spec, const ReadGit& git = {}) {
  auto content = resolve(spec, git);
  return content ? identity_of(*content) : to_string(content.error());
}

TEST(PromoteContent, IdentityIsOfTheContentAlone) {
  const std::string one = identity(spec());
  EXPECT_THAT(one, testing::StartsWith("sha256:"));
  ReleaseSpec other = spec();
  other.component.content = yaml(
      "spec:\n  parameters:\n    replicas: 2\n  addons:\n  - instanceId: a\n    name: disk\n"
      "  componentType: \"deployment/web\"\nkind: Component\nstatus: {x: 1}\n"
      "apiVersion: openchoreo.dev/v1alpha1\nmetadata: {name: shop}\n");
  EXPECT_EQ(identity(other), one) << "another style of YAML, and a status";
  other.addons.push_back(other.addons[0]);
  other.addons[1].instanceId = "b";
  EXPECT_EQ(identity(other), one) << "an addon that is used twice is there once";
  other.component.content = json::value{{"compressed", gzip(kComponent)}};
  EXPECT_EQ(identity(other), one) << "the seed's gzip";
  other.component.content.reset();
  other.component.gitRef = GitRef{.repository = "https://git.example/x", .revision = "a1", .path = "shop.yaml"};
  EXPECT_EQ(identity(other, [](const GitRef&) { return Result<std::string>(kComponent); }), one) << "from Git";
  other.workload = yaml(std::string(kWorkload) + "  # the same\n");
  EXPECT_EQ(identity(other, [](const GitRef&) { return Result<std::string>(kComponent); }), one);
  ReleaseSpec image = spec();
  image.workload.as_object()["spec"].as_object()["image"] = "registry.example/shop:2";
  EXPECT_NE(identity(image), one);
}

TEST(PromoteContent, WhatCannotBeResolvedSaysWhich) {
  ReleaseSpec git = spec();
  git.component.content.reset();
  git.component.gitRef = GitRef{.repository = "r", .revision = "a1", .path = "shop.yaml"};
  EXPECT_EQ(resolve(git, {}).error().code, Code::unavailable);
  EXPECT_EQ(identity(git,
                     [](const GitRef&) -> Result<std::string> {
                       return Error{.code = Code::unavailable, .message = "nobody is there"};
                     }),
            "component: nobody is there");
  EXPECT_EQ(identity(git, [](const GitRef&) { return Result<std::string>(kType); }),
            "component: shop.yaml has no Component 'shop'");
  ReleaseSpec wrong = spec();
  wrong.component.name = "cart";
  EXPECT_EQ(identity(wrong), "component: it is called 'shop', and the release calls it 'cart'");
  wrong = spec();
  wrong.addons.clear();
  EXPECT_EQ(identity(wrong), "addons: the release lacks the addon 'disk'");
  wrong = spec();
  wrong.componentTypeDefinition = {.name = "disk", .content = yaml(kAddon)};
  EXPECT_EQ(identity(wrong), "componentTypeDefinition: expected a ComponentTypeDefinition, found Addon");
  wrong = spec();
  wrong.component.content = json::value{{"compressed", "????"}};
  EXPECT_THAT(identity(wrong), HasSubstr("it is not base64"));
}

TEST(PromoteContent, AReleaseIsFrozenOfWhatIsDefined) {
  const auto kinds = component::read_kinds(
      parse_yaml_stream(std::string(kType) + "---\n" + kComponent + "---\n" + kAddon + "---\n" + kWorkload).value());
  ASSERT_TRUE(kinds.faults.empty()) << to_string(kinds.faults[0]);
  EXPECT_EQ(identity(freeze(kinds, "shop", "").value()), identity(spec()));
  auto other = resolve(freeze(kinds, "shop", "shop@sha256:1").value(), {}).value();
  EXPECT_EQ(image_of(other), "shop@sha256:1");
  EXPECT_EQ(identity_of(with_image(other, "registry.example/shop:1").value()), identity(spec()));
  EXPECT_EQ(freeze(kinds, "cart", "").error().message, "there is no Component 'cart'");
}

TEST(PromoteContent, DefinitionsAreKeptElsewhere) {
  const auto document = json::parse(R"({"metadata": {"name": "r"}, "spec": {
      "component": {"name": "shop", "content": {"kind": "Component"}},
      "componentTypeDefinition": {"name": "web", "gitRef": {"path": "web.yaml"}},
      "addons": [{"name": "disk", "content": {"kind": "Addon"}}, {"name": "other", "content": {"kind": "Addon"}}],
      "workload": {"kind": "Workload"}}})");
  const auto sparse = without_content(document, [](Role role, const std::string& name) -> std::string {
    return name == "other" ? "" : std::string(boost::describe::enum_to_string(role, "")) + ":" + name;
  });
  EXPECT_EQ(sparse.at("spec").at("component").at("content"), json::value("component:shop"));
  EXPECT_EQ(sparse.at("spec").at("componentTypeDefinition"), document.at("spec").at("componentTypeDefinition"));
  EXPECT_EQ(sparse.at("spec").at("addons").at(0).at("content"), json::value("addon:disk"));
  EXPECT_EQ(sparse.at("spec").at("addons").at(1), document.at("spec").at("addons").at(1));
  EXPECT_EQ(sparse.at("spec").at("workload"), json::value("workload:shop"));
  const auto whole = with_content(sparse, [](const std::string& digest) -> std::optional<std::string> {
    if (digest == "addon:disk") return R"({"kind": "Addon"})";
    if (digest == "component:shop") return R"({"kind": "Component"})";
    return digest == "workload:shop" ? std::optional<std::string>(R"({"kind": "Workload"})") : std::nullopt;
  });
  EXPECT_EQ(whole, document);
}

TEST(PromoteContent, NamesCountTheDay) {
  constexpr int64_t kDay = 1'762'041'600;  // 2025-11-02
  EXPECT_EQ(next_name("shop", kDay, {}), "shop-20251102-1");
  EXPECT_EQ(next_name("shop", kDay, {"shop-20251102-1", "shop-20251102-9", "shop-20251101-30", "shop-20251102-x"}),
            "shop-20251102-10");
}

}  // namespace content_test
}  // namespace sluice::promote
