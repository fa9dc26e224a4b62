// Definition through the harness: one test a variant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "definition.gen.h"
#include "lang/run/harness.h"

namespace sluice::deploy::definition {

void prepare(lang::Harness&) {}

namespace definition_test {

using testing::HasSubstr;

constexpr const char* kWorkload =
    "apiVersion: openchoreo.dev/v1alpha1\nkind: Workload\nmetadata: {name: shop}\nspec: {image: shop}\n";
constexpr const char* kPin =
    "---\napiVersion: openchoreo.dev/v1alpha1\nkind: ReleasePin\nmetadata: {name: shop-dev}\n"
    "spec: {component: shop, environment: dev, releaseName: shop-1}\nstatus: {appliedRelease: shop-0}\n";

class DefinitionTest : public testing::Test {
 protected:
  // An apply that is open, as begin leaves it.
  DefinitionAId opened(bool plan = false) {
    return State(harness.rows()).add(DefinitionARecord{.by = "user:ann", .plan = plan});
  }
  auto read(const DefinitionAId& apply, const std::string& text) {
    return harness.invoke(Read{.apply = apply, .documents = {{.file = "shop.yaml", .text = text}}});
  }
  lang::Harness harness{definition_binding()};
};

TEST_F(DefinitionTest, AnApplyEndsAsItIsAnswered) {
  const Apply apply{.documents = {{.file = "shop.yaml", .text = kWorkload}}};
  harness.answer_with({"ok", {{"changes", json::array{}}}});
  EXPECT_TRUE(harness.invoke(apply).is<Apply::Ok>());
  harness.answer_with({"invalid", {{"message", "no"}}});
  EXPECT_TRUE(harness.invoke(apply).is<Apply::Invalid>());
  harness.answer_with({"refused", {{"message", "soaking"}}});
  EXPECT_EQ(harness.invoke(apply).as<Apply::Refused>().message, "soaking");
  harness.answer_with({"approvalNeeded", {{"message", "2 other people must agree"}}});
  EXPECT_EQ(harness.invoke(apply).as<Apply::ApprovalNeeded>().message, "2 other people must agree");
  EXPECT_EQ(harness.invoke(Apply{}).as<Apply::Invalid>().message, "there is nothing to apply");
  State state(harness.rows());
  for (const auto& each : state.all()) ADD_FAILURE() << each.id.text();
}

TEST_F(DefinitionTest, WhatIsReadIsHandedToItsOwners) {
  const auto apply = opened();
  const auto ok = read(apply, std::string(kWorkload) + kPin).as<Read::Ok>();
  ASSERT_EQ(ok.items.size(), 1U);
  EXPECT_EQ(ok.items[0].kind, "Workload");
  ASSERT_EQ(ok.pins.size(), 1U);
  EXPECT_EQ(ok.pins[0],
            (DefinitionPin{
                .component = "shop", .environment = "dev", .release = "shop-1", .state = "Active", .drift = "report"}));
  EXPECT_EQ(ok.changes.size(), 2U);
  EXPECT_EQ(ok.changes[0].sign, "+");
  EXPECT_EQ(harness.invoke(Keep{.apply = apply}).as<Keep::Ok>().changed, std::vector<std::string>{"Workload/shop"});
  EXPECT_TRUE(harness.invoke(Keep{.apply = apply}).as<Keep::Ok>().changed.empty()) << "the same again";
}

TEST_F(DefinitionTest, AFaultHasItsPlace) {
  const auto fault = read(opened(),
                          "apiVersion: openchoreo.dev/v1alpha1\nkind: Workload\nmetadata: {name: shop}\n"
                          "spec:\n  imag: shop\n");
  EXPECT_THAT(fault.as<Read::Invalid>().message, HasSubstr("shop.yaml:5:3: /spec/imag: unknown field"));
  EXPECT_THAT(read(opened(), "a: [").as<Read::Invalid>().message, HasSubstr("shop.yaml:"));
}

TEST_F(DefinitionTest, APlanKeepsNothing) { EXPECT_TRUE(read(opened(true), kWorkload).is<Read::Planned>()); }

TEST_F(DefinitionTest, WhatWasKeptIsUndone) {
  const auto changed = [](const std::string& image) {
    return "apiVersion: openchoreo.dev/v1alpha1\nkind: Workload\nmetadata: {name: shop}\nspec: {image: " + image +
           "}\n";
  };
  const std::string settings =
      "---\napiVersion: openchoreo.dev/v1alpha1\nkind: EnvSettings\nmetadata: {name: x}\n"
      "spec: {owner: {componentName: shop}, environment: dev}\n";
  const auto first = opened();
  read(first, kWorkload);
  harness.invoke(Keep{.apply = first});
  const auto document = [&](const std::string& id) {
    const auto record = State(harness.rows()).get(DefinitionId(id));
    return record ? record->document : "";
  };
  const std::string before = document("Workload/shop");
  const auto second = opened();
  read(second, changed("other") + settings + "---\n" + changed("x").replace(changed("x").find("shop"), 4, "cart"));
  harness.invoke(Keep{.apply = second});
  EXPECT_NE(document("Workload/shop"), before);
  EXPECT_NE(document("Workload/cart"), "");
  const auto undone = harness.invoke(Undo{.apply = second, .message = "no"}).as<Undo::Ok>();
  EXPECT_EQ(document("Workload/shop"), before);
  EXPECT_EQ(document("Workload/cart"), "");
  ASSERT_EQ(undone.newSettings.size(), 1U);
  EXPECT_EQ(undone.newSettings[0].component + " " + undone.newSettings[0].environment, "shop dev");
  EXPECT_TRUE(undone.settings.empty() && undone.pipelines.empty() && undone.newReleases.empty());
}

TEST_F(DefinitionTest, ADefinitionIsForgotten) {
  const Remove remove{.kind = "Workload", .name = "shop"};
  EXPECT_EQ(harness.invoke(remove).as<Remove::NotFound>().message, "there is no Workload 'shop'");
  const auto apply = opened();
  read(apply, kWorkload);
  harness.invoke(Keep{.apply = apply});
  EXPECT_TRUE(harness.invoke(remove).is<Remove::Ok>());
}

}  // namespace definition_test
}  // namespace sluice::deploy::definition
