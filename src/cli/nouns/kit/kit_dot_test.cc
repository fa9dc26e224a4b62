// Pictures of a kit, and of its parts.
#include "cli/nouns/kit/kit_dot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::cli {
namespace kit_dot_test {

using testing::HasSubstr;
using testing::Not;

struct KitDot : testing::Test {
  KitDot() {
    lang::Kit kit = lang::kit_of({lang::kOrder, lang::kCard}, R"(sync Charge
  when { Order/pay: [ order: ?o; amount: ?a ] => requested }
  then { Card/charge: [ order: ?o; amount: ?a ] }
sync Paid [eventual]
  when { Card/charge: [] => ok[]
         caused by Order/pay: [] => requested as ?ask }
  then { answer ?ask => ok[] }
sync Held
  when { Card/charge: [] => ok[ card: ?c ] }
  then { Card/hold: [ card: ?c ] }
guard Known before { Order/pay: [ order: ?o ] } require { Order: { ?o } } else declined[ order: ?o; reason: "no" ]
)");
    kit.suite.name = "shop";
    checked = lang::check(std::move(kit));
  }
  lang::Checked checked;
};

TEST_F(KitDot, LeadsFromConceptsThroughSyncsToConcepts) {
  std::string dot = kit_dot(*checked.kit);
  EXPECT_THAT(dot, HasSubstr("digraph \"shop\" {\n"));
  EXPECT_THAT(dot, HasSubstr("  \"Order\" -> \"sync Charge\" [label=\"pay requested\"];\n"));
  EXPECT_THAT(dot, HasSubstr("  \"sync Charge\" -> \"Card\" [label=\"charge\"];\n"));
  EXPECT_THAT(dot, HasSubstr("  \"sync Paid\" -> \"Order\" [label=\"answer ok\", style=dashed];\n"));
  EXPECT_THAT(dot, HasSubstr("  \"sync Held\" -> \"Card\" [label=\"hold\"];\n"));
  EXPECT_THAT(dot, HasSubstr("  \"guard Known\" -> \"Order\" [label=\"before pay\"];\n"));
}

TEST_F(KitDot, OfASyncOrAGuardItShowsNoOther) {
  EXPECT_EQ(kit_dot(*checked.kit, {.sync = 2}),
            "digraph \"shop\" {\n  rankdir=LR;\n  node [fontname=\"Helvetica\"];\n"
            "  \"Card\" [shape=box, style=rounded];\n"
            "  \"sync Held\" [shape=plain, label=\"Held\"];\n"
            "  \"Card\" -> \"sync Held\" [label=\"charge ok\"];\n"
            "  \"sync Held\" -> \"Card\" [label=\"hold\"];\n}\n");
  EXPECT_EQ(kit_dot(*checked.kit, {.guard = 0}),
            "digraph \"shop\" {\n  rankdir=LR;\n  node [fontname=\"Helvetica\"];\n"
            "  \"Order\" [shape=box, style=rounded];\n"
            "  \"guard Known\" [shape=octagon, label=\"Known\"];\n"
            "  \"Order\" -> \"guard Known\" [label=\"rows\", style=dotted];\n"
            "  \"guard Known\" -> \"Order\" [label=\"before pay\"];\n}\n");
}

TEST_F(KitDot, OfAConceptItShowsWhatTouchesIt) {
  std::string dot = kit_dot(*checked.kit, {.concept_ = 0});
  EXPECT_THAT(dot, HasSubstr("\"sync Charge\""));
  EXPECT_THAT(dot, HasSubstr("\"sync Paid\""));
  EXPECT_THAT(dot, HasSubstr("\"guard Known\""));
  EXPECT_THAT(dot, HasSubstr("  \"Card\" [shape=box, style=rounded];\n"));
  EXPECT_THAT(dot, Not(HasSubstr("\"sync Held\"")));
}

}  // namespace kit_dot_test
}  // namespace sluice::cli
