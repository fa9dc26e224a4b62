// The whole of it: what makes a CheckedKit, and the order of what is told.
#include "lang/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"
#include "lang/syntax/testing_shop.h"

namespace sluice::lang {
namespace check_test {

TEST(Check, WarningsDoNotForbidAKitAndErrorsDo) {
  EXPECT_TRUE(
      check(kit_of({kOrder, kCard},
                   "sync A when { Order/ship: [ priority: \"x\" ] => ok[] } then { Card/hold: [ card: \"c\" ] }"))
          .kit);
  EXPECT_FALSE(
      check(kit_of({kOrder, kCard}, "sync A when { Order/ship: [] => okk[] } then { Card/hold: [ card: \"c\" ] }"))
          .kit);
}

TEST(Check, WhatTheLoaderFoundForbidsAKit) {
  Kit kit = kit_of({kOrder}, "");
  kit.found.add({.file = "suite.yaml", .text = "x"});
  EXPECT_FALSE(check(kit).kit);
}

TEST(Check, TellsByFileAndPlace) {
  Checked checked = check(
      kit_of({"concept B { state { x: Q } actions { action go() { -> ok } } }"},
             "sync A when { C/x: [] => ok[] } then { B/stop: [] }\nsync D when { B/g: [] => ok[] } then { B/go: [] }"));
  std::vector<std::string> places;
  for (const Diagnostic& each : checked.diagnostics)
    places.push_back(each.file + ":" + std::to_string(each.mark.line) + ":" + std::to_string(each.mark.column));
  EXPECT_THAT(places, testing::ElementsAre("0.concept:1:24", "rules.sync:1:15", "rules.sync:1:42", "rules.sync:2:17"));
}

TEST(Check, TheEnginesConceptsParse) {
  ASSERT_EQ(engine_concepts().size(), 2u);
  EXPECT_EQ(engine_concepts()[0].actions[0].runs, Runs::effect);
  EXPECT_EQ(engine_concepts()[1].actions[0].variants[1].name, "stuck");
}

TEST(Check, ACheckedKitMayBeMoved) {
  Checked checked = check(kit_of({kOrder, kCard}, ""));
  ASSERT_TRUE(checked.kit);
  CheckedKit moved = std::move(*checked.kit);
  EXPECT_EQ(moved.symbols().concepts[0].source->name, "Order");
}

TEST(Check, KeepsAHundredErrorsOfAFileAndCountsTheRest) {
  std::string rules;
  for (int i = 0; i < 250; ++i) {
    rules += "sync S" + std::to_string(i) + " when { B/go: [] => ok[] } then { A/go: [] }\n";
  }
  Kit kit = kit_of({"concept A { actions { action go(n: Int) { -> ok } } }"}, rules);
  Checked checked = check(std::move(kit));
  EXPECT_FALSE(checked.kit);
  EXPECT_EQ(checked.errors, 500u);  // each names what is not there, and leaves an argument out
  EXPECT_EQ(checked.diagnostics.size(), 100u);
  EXPECT_EQ(checked.rest, "400 further errors are not shown");
  EXPECT_EQ(checked.diagnostics.back().mark.line, 50u);
}

TEST(Check, WhatFollowsIsJudgedOnlyIfAllIsThere) {
  auto flow = [](const Files& files) {
    std::vector<std::string> lines;
    for (const Diagnostic& each : check(load_files(files)).diagnostics) {
      if (is_about_flow(each)) lines.push_back(line_of(each));
    }
    return lines;
  };
  EXPECT_THAT(flow(shop()), testing::Not(testing::IsEmpty()));
  Files gone = shop(), renamed = shop(), misspelt = shop(), unknown = shop();
  gone.erase("k/order.concept");
  EXPECT_THAT(flow(gone), testing::IsEmpty());
  renamed["k/card.concept"].replace(0, 12, "concept Cord");
  EXPECT_THAT(flow(renamed), testing::IsEmpty());
  unknown["k/suite.yaml"] += "uses: [ { suite: nolib, concepts: [ { name: Stock } ] } ]\n";
  EXPECT_THAT(flow(unknown), testing::IsEmpty());
  for (const auto& [right, wrong] :
       {std::pair("Card/charge", "Card/chrge"), {"Card/charge", "Crd/charge"}, {"Order/pay", "Order/pya"}}) {
    Files files = shop();
    std::string& rules = files["k/pay.sync"];
    rules.replace(rules.find(right), std::string(right).size(), wrong);
    EXPECT_THAT(flow(files), testing::IsEmpty()) << wrong;
  }
  misspelt["k/a.sync"].replace(misspelt["k/a.sync"].find("lost"), 4, "lots");
  EXPECT_THAT(flow(misspelt), testing::IsEmpty());
}

}  // namespace check_test
}  // namespace sluice::lang
