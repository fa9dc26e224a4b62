// Patterns and queries: every name they write, and what they bind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_rule_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> told_of(const std::string& rules) { return told(kit_of({kOrder, kCard}, rules)); }

TEST(CheckRule, AcceptsWhatIsRight) {
  EXPECT_THAT(told_of(R"(sync A
  when { Order/place: [ customer: ?c ] => ok[ order: ?o; total: ?t ] }
  where { Order: { ?o status: "open"; address.city: ?city; note: ?n }
          Order.lines: { ?o item: ?i; count: ?k }
          Order.tags: { ?o value: ?tag }
          filter(?t > 3 and ?city != "x") }
  then { Order/pay: [ order: ?o; amount: ?t ] })"),
              IsEmpty());
}

TEST(CheckRule, UnknownConceptNamesTheNearest) {
  EXPECT_THAT(
      told_of("sync A when { Ordr/place: [] => ok[ order: ?o ] } then { Order/pay: [ order: ?o; amount: 1 ] }"),
      ElementsAre("rules.sync:1:15+4 error unknown-concept: there is no concept `Ordr` [did you mean `Order`?]"));
}

TEST(CheckRule, UnknownActionNamesTheNearest) {
  EXPECT_THAT(
      told_of("sync A when { Order/plase: [] => ok[] } then { Card/hold: [ card: \"c\" ] }"),
      ElementsAre("rules.sync:1:21+5 error unknown-action: `Order` has no action `plase` [did you mean `place`?]"));
}

TEST(CheckRule, UnknownVariantNamesTheNearest) {
  EXPECT_THAT(told_of("sync A when { Order/pay: [] => decined[] } then { Card/hold: [ card: \"c\" ] }"),
              ElementsAre("rules.sync:1:32+7 error unknown-variant: `Order/pay` has no variant `decined` "
                          "[did you mean `declined`?]"));
}

TEST(CheckRule, UnknownFieldsOfArgumentsVariantsAndRows) {
  EXPECT_THAT(
      told_of(R"(sync A
  when { Order/place: [ custmer: ?c ] => ok[ totl: ?t ] }
  where { Order: { ?o totals: ?x }  Order: { ?o lines: ?l }  Order.line: { ?o item: ?i }  Order: { ?o address.town: ?y } }
  then { Card/hold: [ card: "c" ] })"),
      ElementsAre(
          "rules.sync:2:25+7 error unknown-field: `Order/place` has no argument `custmer` [did you mean `customer`?]",
          "rules.sync:2:46+4 error unknown-field: `Order/place => ok` has no field `totl` [did you mean `total`?]",
          "rules.sync:3:23+6 error unknown-field: a row of `Order` has no field `totals` [did you mean `total`?]",
          "rules.sync:3:49+5 error unknown-field: a row of `Order` has no field `lines` "
          "[it is a list: query its elements with `Order.lines: { ?o item: ?item }`]",
          "rules.sync:3:68+4 error unknown-field: `Order` has no list or set `line` [did you mean `lines`?]",
          "rules.sync:3:111+4 error unknown-field: `address` of Order is { city: String, zip: String }, without a "
          "field `town` [there is `city` and `zip`]"));
}

TEST(CheckRule, AnyVariantNeedsAFieldThatSomeVariantHas) {
  EXPECT_THAT(told_of("sync A when { Order/pay: [] => [ reason: ?r ] } then { Card/charge: [ order: ?r; amount: 1 ] }"),
              IsEmpty());
  EXPECT_THAT(told_of("sync A when { Order/pay: [] => [ reasn: ?r ] } then { Card/charge: [ order: ?r; amount: 1 ] }"),
              ElementsAre("rules.sync:1:34+5 error unknown-field: no variant of `Order/pay` has a field `reasn` "
                          "[did you mean `reason`?]"));
  EXPECT_THAT(
      told_of("sync A when { Order/place: [] => [ message: ?m; total: ?t ] } then { Card/charge: [ order: ?m; amount: "
              "?t ] }"),
      ElementsAre("rules.sync:1:36+7 error unknown-field: no variant of `Order/place` has all of these fields [name "
                  "the variant that is meant, and match its fields alone]"));
}

TEST(CheckRule, UnknownEngineOutcome) {
  EXPECT_THAT(
      told_of("sync A when { Order/pay: [] => engine.crash[ message: ?m ] } then { Card/charge: [ order: ?m; amount: 1 "
              "] }"),
      ElementsAre(
          "rules.sync:1:39+5 error unknown-engine-outcome: there is no engine outcome `crash` [it is one of fault, "
          "unavailable, timeout, unknown, unanswered, refused, denied, conflict, cancelled, limit, needsMigration]"));
  EXPECT_THAT(told_of("sync A when { Order/pay: [] => engine.fault[ message: ?m ] } then { Card/charge: [ order: ?m; "
                      "amount: 1 ] }"),
              IsEmpty());
}

TEST(CheckRule, QueriesLeaveNothingToMatch) {
  EXPECT_THAT(
      told_of("sync A when { Order/look: [] => ok[] } then { Card/hold: [ card: \"c\" ] }"),
      ElementsAre("rules.sync:1:21+4 error query-matched: `Order/look` is a query: it leaves no record, so no sync can "
                  "match it [match an action that changes something, or read the rows themselves in where]"));
}

TEST(CheckRule, OnlyAnsweredActionsAreRequested) {
  EXPECT_THAT(
      told_of("sync A when { Order/place: [] => requested } then { Card/hold: [ card: \"c\" ] }"),
      ElementsAre(
          "rules.sync:1:21+5 error not-answered: `Order/place` is not answered, so it is never requested: it runs and "
          "completes [match a variant of it, or declare it `runs: answered`]"));
}

TEST(CheckRule, LiteralsInPatternsHaveTheFieldsType) {
  EXPECT_THAT(told_of("sync A when { Order/pay: [ amount: \"1\" ] => ok[] } then { Card/hold: [ card: \"c\" ] }"),
              ElementsAre("rules.sync:1:36+3 error type-mismatch: `amount` of Order/pay is Int, never \"1\" [write a "
                          "value of type Int]"));
}

TEST(CheckRule, ALiteralOutsideTheUnionNeverFires) {
  EXPECT_THAT(
      told_of("sync A when { Order/ship: [ priority: \"quick\" ] => ok[] } then { Card/hold: [ card: \"c\" ] }"),
      ElementsAre(
          "rules.sync:1:39+7 warning never-fires: `priority` of Order/ship is never \"quick\", so this can never match "
          "[it is one of \"slow\" | \"fast\"]"));
}

TEST(CheckRule, JoinedVariablesHaveOneType) {
  EXPECT_THAT(
      told_of("sync A when { Order/place: [] => ok[ order: ?x; total: ?x ] } then { Card/hold: [ card: \"c\" ] }"),
      ElementsAre("rules.sync:1:56+2 error type-mismatch: `?x` is O of Order, but `total` of Order/place => ok is Int: "
                  "they are never equal [give one of them another name]"));
}

TEST(CheckRule, SealedFieldsStayOutOfWhere) {
  EXPECT_THAT(
      told_of("sync A when { Order/pay: [ order: ?o ] => ok[] } where { Order: { ?o secret: ?s } } then { Card/hold: [ "
              "card: \"c\" ] }"),
      ElementsAre("rules.sync:1:78+2 error sealed: `secret` of Order is Sealed: no where, filter or template may use "
                  "it [match it with `_`, or leave it out]"));
}

TEST(CheckRule, EachTakesAListApart) {
  std::string head = "sync A when { Order/place: [ lines: ?ls; customer: ?c ] => ok[ order: ?o ] } where { ";
  EXPECT_THAT(told_of(head + "each(?ls as { item: ?i, count: ?n }) } then { Card/charge: [ order: ?i; amount: ?n ] }"),
              IsEmpty());
  EXPECT_THAT(told_of(head + "each(?c as { item: ?i }) } then { Card/charge: [ order: ?i; amount: 1 ] }"),
              ElementsAre("rules.sync:1:91+2 error type-mismatch: each takes a list or a set, not String [use the "
                          "value as it is, without `each`]"));
  EXPECT_THAT(
      told_of(head + "each(?ls as { itm: ?i }) } then { Card/charge: [ order: ?i; amount: 1 ] }"),
      ElementsAre(
          "rules.sync:1:100+3 error unknown-field: an element is { item: String, count: Int }, without a field `itm` "
          "[did you mean `item`?]"));
}

TEST(CheckRule, MisalignedParametersWarnUnlessStrict) {
  Kit kit =
      kit_of({kOrder, kCard}, "sync A when { Order/place: [] => ok[ order: ?o ] } then { Card/hold: [ card: ?o ] }");
  kit.concepts[0].entry.params = {{{}, "O", "order-ref", ""}};
  kit.concepts[1].entry.params = {{{}, "C", "card-ref", ""}};
  std::string text =
      " alignment: `?o` is O of Order, but `card` of Card/hold takes C of Card "
      "[the suite tags them as ids of different things: give the id that is meant here, or one tag to both under "
      "`params` in suite.yaml]";
  EXPECT_THAT(told(kit), ElementsAre("rules.sync:1:78+2 warning" + text));
  EXPECT_THAT(told(kit, {.strict = true}), ElementsAre("rules.sync:1:78+2 error" + text));
}

TEST(CheckRule, AFieldIsMatchedOnce) {
  std::string then = " then { Card/hold: [ card: \"c\" ] }";
  EXPECT_THAT(told_of("sync A when { Order/pay: [ amount: ?a; order: ?o; amount: 3 ] => requested }" + then),
              ElementsAre("rules.sync:1:51+6 error duplicate: a second argument `amount` [keep one]"));
  EXPECT_THAT(told_of("sync A when { Order/place: [] => ok[ total: ?t; total: ?t ] }" + then),
              ElementsAre("rules.sync:1:49+5 error duplicate: a second field `total` [keep one]"));
  EXPECT_THAT(told_of("sync A when { Order/place: [] => ok[ order: ?o ] }\nwhere { Order: { ?o address.city: ?a; "
                      "address.zip: ?z; address.city: \"x\" } }" +
                      then),
              ElementsAre("rules.sync:2:56+12 error duplicate: a second field `address.city` [keep one]"));
  EXPECT_THAT(
      told_of("sync A when { Order/place: [ lines: ?ls ] => ok[] }\nwhere { each(?ls as { item: ?i; item: ?j }) }" +
              then),
      ElementsAre("rules.sync:2:33+4 error duplicate: a second field `item` [keep one]"));
}

TEST(CheckRule, NothingIsJoinedBySealedValues) {
  EXPECT_THAT(
      told(kit_of({kCard},
                  "sync A when { Card/unlock: [ key: ?k ] => ok[ card: ?c ]  Card/unlock: [] => ok[ token: "
                  "?k ] } then { Card/hold: [ card: ?c ] }")),
      testing::Contains("rules.sync:1:89+2 error sealed: `token` of Card/unlock => ok is Sealed: two handles cannot be "
                        "compared, so `?k` cannot stand here again [match it with `_`, or give it another name]"));
}

}  // namespace check_rule_test
}  // namespace sluice::lang
