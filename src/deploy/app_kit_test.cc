// How a kit of an app is read, and what it may not reach.
#include "deploy/app_kit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::deploy {
namespace app_kit_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct AppKits : testing::Test {
  std::map<std::string, std::string> files = {
      {"suite.yaml",
       "kit: { name: shop, version: 1.2.0 }\n"
       "concepts:\n  Cart: { spec: ./cart.concept }\n"
       "syncs:\n  recommended:\n    - path: ./shop.sync\n"},
      {"cart.concept",
       "concept Cart [C] {\n  state { carts: set C }\n  actions {\n    action put(cart: C) { -> ok(cart: C) }\n  "
       "}\n}\n"},
      {"shop.sync",
       "sync Again [eager]\n  when { Cart/put: [ cart: ?c ] => ok[] }\n  then { Cart/put: [ cart: ?c ] }\n"}};

  ReadAppKit kit() { return read_app_kit("./kits/shop", files, overrides); }
  std::vector<std::string> faults(const std::string& rule) {
    files["shop.sync"] = rule;
    return kit().faults;
  }
  std::map<std::string, std::string> overrides;
};

TEST_F(AppKits, HaveTheirActiveRulesWithTheConceptsThatTheyName) {
  auto found = kit();
  ASSERT_TRUE(found.kit) << found.faults.front();
  EXPECT_EQ(found.kit->version, "1.2.0");
  ASSERT_EQ(found.kit->rules.size(), 1U);
  EXPECT_EQ(found.kit->rules[0].name, "Again");
  EXPECT_THAT(found.kit->rules[0].concepts, ElementsAre(AppConcept{"Cart", files["cart.concept"]}));
  AppRule other = found.kit->rules[0];
  other.concepts[0].text += "# changed";
  EXPECT_NE(digest_of(found.kit->rules[0]), digest_of(other));
}

TEST_F(AppKits, TakeTheFilesOfOverridesFromTheManifestsFolder) {
  overrides = {{"Again", "./mine/again.sync"}};
  files[kept_override("./mine/again.sync")] =
      "sync Again [eager]\n  when { Cart/put: [] => ok[] }\n  then { Timer/wait: [ name: \"a\"; seconds: 1 ] }\n";
  auto found = kit();
  ASSERT_TRUE(found.kit) << found.faults.front();
  ASSERT_EQ(found.kit->rules.size(), 1U);
  EXPECT_THAT(found.kit->rules[0].text, HasSubstr("Timer/wait"));
  overrides = {{"Nobody", "./mine/again.sync"}};
  EXPECT_THAT(kit().faults, ElementsAre(HasSubstr("there is no sync `Nobody`")));
}

TEST_F(AppKits, ReachNothingBeyondTheirOwnConcepts) {
  const std::string put = "sync S [eager]\n  when { Cart/put: [ cart: ?c ] => ok[] }\n";
  EXPECT_THAT(faults(put + "  then { Deployment/down: [ environment: \"local\" ] }\n"),
              ElementsAre(HasSubstr("./kits/shop/shop.sync:3:")));
  EXPECT_THAT(faults(put + "  then { Flow/undo: [ request: \"1\" ] }\n"), testing::Not(IsEmpty()));
  EXPECT_THAT(faults("sync S [eager]\n  when { ?x/put: [ cart: ?c ] => ok[] }\n  then { Cart/put: [ cart: ?c ] }\n"),
              ElementsAre(HasSubstr("shop.sync:2:10: a sync of an app's kit names its concepts")));
  EXPECT_THAT(faults(put + "  where { Cart: { ?c } }\n  then { Cart/put: [ cart: ?c ] }\n"),
              ElementsAre(HasSubstr("the component keeps the state of Cart")));
  EXPECT_THAT(faults(put + "  then { Cart/put: [ cart: ?c ] }\n\nguard G\n  before { Cart/put: [ cart: ?c ] }\n"
                           "  require { filter(?c != \"x\") }\n  else engine.refused[ message: \"no\" ]\n"),
              ElementsAre(HasSubstr("a guard binds every flow of the engine")));
  files["cart.concept"] =
      "concept Cart [C] {\n  actions {\n    action put(cart: C) {\n      runs: answered\n      -> ok(cart: C)\n    }\n "
      " }\n}\n";
  EXPECT_THAT(faults(put + "  then { Cart/put: [ cart: ?c ] }\n"), testing::Contains(HasSubstr("put is neither")));
  files.erase("cart.concept");
  EXPECT_THAT(kit().faults, testing::Contains(HasSubstr("has no file ./kits/shop/cart.concept")));
  files.clear();
  EXPECT_THAT(kit().faults, testing::Not(IsEmpty()));
}

}  // namespace app_kit_test
}  // namespace sluice::deploy
