// A kit in its three forms.
#include "cli/nouns/kit/kit_show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "lang/check/testing_kit.h"

namespace sluice::cli {
namespace kit_show_test {

using testing::HasSubstr;

struct KitShow : testing::Test {
  KitShow() {
    lang::Kit kit = lang::kit_of({lang::kOrder, lang::kCard}, R"(sync Charge
  when { Order/pay: [ order: ?o; amount: ?a ] => requested }
  then { Card/charge: [ order: ?o; amount: ?a ] }

# Money came.
sync Paid [eventual]
  when { Card/charge: [] => ok[]
         caused by Order/pay: [] => requested as ?ask }
  then { answer ?ask => ok[] }
guard Known before { Order/pay: [ order: ?o ] } require { Order: { ?o } } else declined[ order: ?o; reason: "no" ]
)");
    kit.suite.name = "shop";
    kit.suite.version = "1.0.0";
    kit.absent = {{"Bank", "its file is missing"}};
    kit.syncs.push_back(kit.syncs[0]);
    kit.syncs[2].tree.name.text = "Other";
    kit.syncs[2].alias = "Alias";
    kit.syncs[2].inactive = "`Bank` is not loaded";
    checked = lang::check(std::move(kit));
  }
  lang::Checked checked;
  Terminal plain;
};

TEST_F(KitShow, TheKitListsConceptsSyncsAndGuards) {
  std::string text = show_kit(*checked.kit, plain);
  EXPECT_THAT(text, HasSubstr("shop 1.0.0\n"));
  EXPECT_THAT(text, HasSubstr("Bank           –  not loaded: its file is missing\n"));
  EXPECT_THAT(text, HasSubstr("Other   Alias  recommended  inactive: `Bank` is not loaded\n"));
  EXPECT_THAT(text, HasSubstr("Known  before Order/pay  active\n"));
}

TEST_F(KitShow, ASyncThatFollowsFromProvidesIsShownLikeAWrittenOne) {
  lang::Checked provided = lang::check(lang::kit_of(
      {"concept A [T] { routed by: kind actions { action ask(kind: String) { runs: answered -> ok } } }",
       "concept B [T] { kind: \"b\" actions { action work() { -> ok } }\nprovides A { ask -> work { ok } } }"},
      ""));
  ASSERT_TRUE(provided.kit);
  EXPECT_THAT(show_kit(*provided.kit, plain), HasSubstr("B.ask            integration  active, from provides\n"));
  EXPECT_EQ(show_sync(*provided.kit, 1, plain), R"(B.ask.ok  integration
It follows from `provides` at 1.concept:2.

sync B.ask.ok [eager]
  when { B/work: [] => ok[]
         caused by A/ask: [] => requested as ?ask }
  then { answer ?ask => ok[] }

Waits for
  B/work => ok
  caused by A/ask => requested

Starts
  answer A/ask => ok
)");
  EXPECT_EQ(shown_sync(*provided.kit, 0).derived, true);
}

TEST_F(KitShow, AVersionReachesNoTerminalAsItIs) {
  lang::Kit kit = lang::kit_of({lang::kOrder}, "");
  kit.suite.name = "shop";
  kit.suite.version = "1\x1b[31m";
  lang::Checked raw = lang::check(std::move(kit));
  EXPECT_THAT(show_kit(*raw.kit, plain), testing::Not(HasSubstr("\x1b")));
}

TEST_F(KitShow, ATextOfAUnionReachesNoTerminalAsItIs) {
  lang::Kit kit = lang::kit_of(
      {"concept A { actions { action a(k: \"a\\u{1b}[31m\" | \"e\") { -> ok(k: \"\\u{1b}\" | \"f\") } } }"}, "");
  lang::Checked raw = lang::check(std::move(kit));
  ASSERT_TRUE(raw.kit);
  EXPECT_THAT(show_concept(*raw.kit, 0, plain), HasSubstr("a(k: \"a\\u{1b}[31m\" | \"e\")"));
  EXPECT_THAT(show_concept(*raw.kit, 0, plain), testing::Not(HasSubstr("\x1b")));
}

TEST_F(KitShow, AConceptSaysWhoUsesIt) {
  std::string text = show_concept(*checked.kit, 0, plain);
  EXPECT_THAT(text, HasSubstr("pay(order: O of Order, amount: Int)  answered\n"
                              "  -> ok(order: O of Order)\n"
                              "  -> declined(order: O of Order, reason: String)\n"
                              "  guarded by  Known\n"
                              "  matched by  Charge (requested)\n"
                              "  answered by Paid (ok)\n"));
}

TEST_F(KitShow, AnActionSaysThatOnlySyncsCallIt) {
  lang::Checked own = lang::check(lang::kit_of({"concept A { actions { action a() { callers: syncs -> ok } } }"}, ""));
  ASSERT_TRUE(own.kit);
  EXPECT_THAT(show_concept(*own.kit, 0, plain), HasSubstr("a()  pure, called by syncs alone\n"));
  EXPECT_EQ(shown_concept(*own.kit, 0).actions[0].callers, "syncs");
}

TEST_F(KitShow, ASyncShowsItsRuleAndBothItsEnds) {
  EXPECT_EQ(show_sync(*checked.kit, 0, plain), R"(Charge  recommended

sync Charge
  when { Order/pay: [ order: ?o; amount: ?a ] => requested }
  then { Card/charge: [ order: ?o; amount: ?a ] }

Waits for
  Order/pay => requested

Starts
  Card/charge
)");
  json::value paid = to_json(shown_sync(*checked.kit, 1));
  EXPECT_EQ(paid.at("waitsFor"), (json::array{"Card/charge => ok", "caused by Order/pay => requested"}));
  EXPECT_EQ(paid.at("starts"), (json::array{"answer Order/pay => ok"}));
}

TEST(FindSync, TakesTheActiveOne) {
  lang::Kit kit;
  kit.syncs.resize(3);
  kit.syncs[0].tree.name.text = kit.syncs[0].alias = "Usual";
  kit.syncs[0].inactive = "overridden by mine.sync";
  kit.syncs[0].replaced = true;
  kit.syncs[1].tree.name.text = kit.syncs[1].alias = "Other";
  kit.syncs[2].tree.name.text = "Mine";
  kit.syncs[2].alias = "Usual";
  kit.syncs[2].replaces = "a.sync:2";
  EXPECT_EQ(find_sync(kit, "Usual"), 2u);
  EXPECT_EQ(find_sync(kit, "Mine"), 2u);
  EXPECT_EQ(find_sync(kit, "Other"), 1u);
  EXPECT_EQ(find_sync(kit, "None"), std::nullopt);
  // One that is known by another name than its own.
  kit.syncs[0].tree.name.text = "Old";
  EXPECT_EQ(find_sync(kit, "Old"), 2u);
}

TEST_F(KitShow, AGuardShowsItsRuleAndHowItRefuses) {
  EXPECT_EQ(find_guard(checked.kit->kit(), "Known"), 0u);
  EXPECT_EQ(find_guard(checked.kit->kit(), "Charge"), std::nullopt);
  EXPECT_EQ(show_guard(*checked.kit, 0, plain), R"(Known  before Order/pay

guard Known before { Order/pay: [ order: ?o ] } require { Order: { ?o } } else declined[ order: ?o; reason: "no" ]

Refuses with
  declined
)");
  json::value known = to_json(shown_guard(*checked.kit, 0));
  EXPECT_EQ(known.at("binds"), "before Order/pay");
  EXPECT_EQ(known.at("refusesWith"), "declined");
  EXPECT_EQ(known, to_json(shown_kit(*checked.kit)).at("guards").at(0));
}

}  // namespace kit_show_test
}  // namespace sluice::cli
