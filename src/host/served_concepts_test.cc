// What apps serve beside the kit that is part of the program.
#include "host/served_concepts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/deploy_kit.h"
#include "host/kit_place.h"
#include "host/pack_concepts.h"
#include "host/testing_opening.h"

namespace sluice::host {
namespace served_concepts_test {

using testing::HasSubstr;

struct Served : testing::Test {
  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  deploy::AppKitShelf shelf{disk, folder.path()};
  TestingNarrator told;
  const KitPlace place{.folder = std::string(deploy::kKitFolder), .home = folder.path()};

  void SetUp() override {
    shelf.load_with([]() -> Result<void> { return {}; });
  }
  void put(const std::string& then) {
    const deploy::AppRule rule{
        .name = "Again",
        .text = "sync Again [eager]\n  when { Cart/put: [ cart: ?c ] => ok[] }\n  then { " + then + " }\n",
        .concepts = {{"Cart",
                      "concept Cart [C] { actions { action put(cart: C) { right: operate effect: changes -> "
                      "ok(cart: C) } } }"}}};
    ASSERT_TRUE(shelf.put({.environment = "local", .app = "shop", .kit = "shop", .rule = "Again"}, rule));
  }
};

bool has_sync(const lang::CheckedKit& kit) {
  return std::ranges::any_of(kit.kit().syncs, [](const lang::KitSync& each) {
    return each.active() && each.tree.name.text == "Local_Shop_Again";
  });
}

TEST_F(Served, ConceptsAndSyncsOfAppsBelongToTheKit) {
  put("Cart/put: [ cart: ?c ]");
  auto checked = check_place(place, false, disk, told);
  ASSERT_TRUE(checked.kit);
  const auto& concepts = checked.kit->kit().concepts;
  ASSERT_TRUE(is_served(concepts.back()));
  EXPECT_EQ(concepts.back().tree.name, "Local_Shop_Cart");
  EXPECT_EQ(concepts.back().tree.actions.front().runs, lang::Runs::effect);
  EXPECT_TRUE(has_sync(*checked.kit));
  ServedConcepts served(shelf, clock);
  EXPECT_EQ(served.bind(std::make_shared<const lang::CheckedKit>(*std::move(checked.kit))).size(), 1U);
  EXPECT_EQ(told.said, "");
}

TEST_F(Served, ASyncThatDoesNotFitTakesNothingElseWithIt) {
  put("Cart/gone: [ cart: ?c ]");
  auto checked = check_place(place, false, disk, told);
  ASSERT_TRUE(checked.kit);
  EXPECT_FALSE(has_sync(*checked.kit));
  EXPECT_THAT(told.said, HasSubstr("the sync Local_Shop_Again of the app shop is left out"));
}

}  // namespace served_concepts_test
}  // namespace sluice::host
