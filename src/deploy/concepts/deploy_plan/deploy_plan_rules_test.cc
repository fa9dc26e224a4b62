// The syncs of apps' kits: what the engine would load is what the shelf keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/app_kit_shelf.h"
#include "deploy/concepts/deploy_plan/deploy_plan_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::deploy_plan {
namespace deploy_plan_rules_test {
using testing::HasSubstr;
using testing::IsEmpty;

struct Shelf {
  TestingFolder folder;
  RealDisk disk;
  AppKitShelf shelf{disk, folder.path()};
  std::optional<Error> refuses;
  Shelf() {
    shelf.load_with([this] { return refuses ? Result<void>(*refuses) : Result<void>(); });
  }
  std::vector<KeptRule> kept() {
    return shelf.all([](const std::string& text) { ADD_FAILURE() << text; });
  }
};

const std::string kCart = "concept Cart [C] { actions { action put(cart: C) { -> ok(cart: C) } } }";

AppRule rule_of(const std::string& action, const std::string& concept_text = kCart) {
  return {.name = "Again",
          .text = "sync Again [eager]\n  when { Cart/put: [ cart: ?c ] => ok[] }\n  then { Cart/" + action +
                  ": [ cart: ?c ] }\n",
          .concepts = {{"Cart", concept_text}}};
}
struct AppRules : testing::Test {
  Shelf home;
  lang::Harness harness{deploy_plan_binding()};

  void SetUp() override { harness.tools().add(home.shelf); }
  static Register asks(const AppRule& rule) {
    return {.environment = "prod-eu",
            .app = "shop",
            .kit = "shop",
            .rule = rule.name,
            .digest = digest_of(rule),
            .spec = write(to_json(rule))};
  }
  Restore back_from(const Register::Ok& ok) {
    return {.environment = ok.environment,
            .app = ok.app,
            .kit = ok.kit,
            .rule = ok.rule,
            .digestBefore = ok.digestBefore,
            .specBefore = ok.specBefore};
  }
};

TEST_F(AppRules, ARuleRunsUnderNamesOfItsOwn) {
  auto ok = harness.invoke(asks(rule_of("put"))).as<Register::Ok>();
  EXPECT_EQ(ok.name, "ProdEu_Shop_Again");
  EXPECT_EQ(ok.specBefore, "");
  ASSERT_EQ(home.kept().size(), 1U);
  const KeptRule kept = home.kept().front();
  EXPECT_THAT(kept.text, HasSubstr("sync ProdEu_Shop_Again"));
  EXPECT_THAT(kept.text, HasSubstr("when { ProdEu_Shop_Cart/put: [ cart: ?c ] => ok[] }"));
  EXPECT_THAT(kept.text, HasSubstr("then { ProdEu_Shop_Cart/put: [ cart: ?c ] }"));
  auto listed = harness.invoke(Rules{}).as<Rules::Ok>().rules;
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed.front().name, DeployPlanRId("ProdEu_Shop_Again"));
}

TEST_F(AppRules, WhatIsUndoneRunsAsBefore) {
  auto first = harness.invoke(asks(rule_of("put"))).as<Register::Ok>();
  const std::string before = home.kept().front().text;
  auto second = harness.invoke(asks(rule_of("drop"))).as<Register::Ok>();
  EXPECT_NE(home.kept().front().text, before);
  EXPECT_TRUE(harness.invoke(back_from(second)).is<Restore::Ok>());
  EXPECT_EQ(home.kept().front().text, before);
  EXPECT_TRUE(harness.invoke(back_from(first)).is<Restore::Ok>());
  EXPECT_EQ(home.kept().front().text, "");
  EXPECT_EQ(home.kept().front().concepts.size(), 1U) << "flows that began under it still need its concept";
  EXPECT_THAT(harness.invoke(Rules{}).as<Rules::Ok>().rules, IsEmpty());
}

TEST_F(AppRules, AConceptWithAnotherTextIsAnotherOneInTheEngine) {
  harness.invoke(asks(rule_of("put")));
  harness.invoke(asks(rule_of("put", kCart + "\n# changed")));
  const KeptRule kept = home.kept().front();
  ASSERT_EQ(kept.concepts.size(), 2U);
  EXPECT_EQ(kept.concepts[1].name, "ProdEu_Shop_Cart_2");
  EXPECT_THAT(kept.text, HasSubstr("ProdEu_Shop_Cart_2/put"));
}

TEST_F(AppRules, WhatTheEngineRefusesIsNotKept) {
  home.refuses = Error{.code = Code::invalid, .message = "no"};
  EXPECT_EQ(harness.invoke(asks(rule_of("put"))).as<Register::Refused>().message, "no");
  EXPECT_THAT(home.kept(), IsEmpty());
  home.refuses.reset();
  auto ok = harness.invoke(asks(rule_of("put"))).as<Register::Ok>();
  const std::string before = home.kept().front().text;
  home.refuses = Error{.code = Code::invalid, .message = "no"};
  EXPECT_EQ(harness.invoke(back_from(ok)).as<Restore::Refused>().message, "no");
  EXPECT_EQ(home.kept().front().text, before);
}

TEST_F(AppRules, AKitOfAnotherAppOrOfTheSameNameInTheEngineIsRefused) {
  harness.invoke(asks(rule_of("put")));
  Register other = asks(rule_of("put"));
  other.app = "store";
  EXPECT_THAT(harness.invoke(other).as<Register::Refused>().message, HasSubstr("is that of the app shop"));
  Register alike = asks(rule_of("put"));
  alike.environment = "prod_eu";
  alike.rule = "Once";
  EXPECT_THAT(harness.invoke(alike).as<Register::Refused>().message, HasSubstr("same name in the engine, ProdEu_Shop"));
}

}  // namespace deploy_plan_rules_test
}  // namespace sluice::deploy::deploy_plan
