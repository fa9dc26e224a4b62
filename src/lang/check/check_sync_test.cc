// Syncs: joins, what they start, and what they answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_sync_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> told_of(const std::string& rules) { return told(kit_of({kOrder, kCard}, rules)); }

TEST(CheckSync, UnboundVariablesNameWhatCouldBindThem) {
  EXPECT_THAT(
      told_of("sync Pay\nwhen { Card/charge: [] => ok[] }\nthen { Order/pay: [ order: ?o; amount: ?amount ] }"),
      ElementsAre(
          "rules.sync:3:28+2 error unbound-variable: sync `Pay`: `?o` in then is not bound by any pattern or query "
          "[it could be bound by `Order: { ?o … }` in where, `caused by Order/place: [] => ok[ order: ?o ]` in when or "
          "`caused by Order/pay: [] => ok[ order: ?o ]` in when]",
          "rules.sync:3:40+7 error unbound-variable: sync `Pay`: `?amount` in then is not bound by any pattern or "
          "query "
          "[it could be bound by `Card/charge: [ amount: ?amount ]` in when]"));
}

TEST(CheckSync, AnUnboundVariableIsToldOnce) {
  EXPECT_THAT(told_of("sync A when { Card/charge: [] => ok[ card: ?c ] } then { Card/charge: [ order: ?x; amount: 1 ] "
                      "Card/charge: [ order: ?x; amount: 2 ] }"),
              testing::SizeIs(1));
}

TEST(CheckSync, ArgumentsWithoutOptionAreNeeded) {
  EXPECT_THAT(told_of("sync A when { Card/charge: [] => ok[ card: ?c ] } then { Order/place: [ customer: \"x\" ] }"),
              ElementsAre("rules.sync:1:64+5 error missing-argument: `Order/place` needs the argument "
                          "`lines: list { item: String, count: Int }` [add `lines: ?lines`, and bind it]"));
}

TEST(CheckSync, EveryCandidateIsChecked) {
  EXPECT_THAT(told_of("sync A when { Order/pay: [ order: ?o ] => requested } where { Order: { ?o note: ?p } } then { "
                      "?p in {Card, Order}/hold: [ card: \"x\" ] }"),
              ElementsAre("rules.sync:1:115+4 error unknown-action: `Order` has no action `hold` [there is `place`, "
                          "`pay`, `ship` and `look`]"));
  EXPECT_THAT(
      told_of("sync A when { Order/pay: [ amount: ?p ] => requested } then { ?p in {Card}/hold: [ card: \"x\" ] }"),
      ElementsAre("rules.sync:1:63+2 error type-mismatch: `?p` is Int, not the name of a concept [bind it to a String "
                  "that holds one of the candidates' names]"));
}

TEST(CheckSync, StartingAQueryIsPointless) {
  EXPECT_THAT(told_of("sync A when { Order/place: [] => ok[ order: ?o ] } then { Order/look: [ order: ?o ] }"),
              ElementsAre("rules.sync:1:65+4 warning query-started: `Order/look` is a query: it changes nothing and "
                          "nothing can follow from it [start an action that changes something, or leave it out]"));
}

TEST(CheckSync, PatternsWithoutAKeyOrACauseJoinEverything) {
  std::string text =
      "rules.sync:2:39+10 warning join-without-key: sync `A` joins `Card/charge` with every `Order/ship` of the flow: "
      "they "
      "share no variable and neither causes the other [write `caused by Order/ship: …`, or match a field of both with "
      "one variable]";
  EXPECT_THAT(told_of("sync A\nwhen { Card/charge: [ order: ?o ] => ok[]  Order/ship: [ order: ?p ] => ok[] }\nthen { "
                      "Card/hold: [ card: \"c\" ] }"),
              ElementsAre("rules.sync:2:44+10 " + text.substr(text.find("warning"))));
  EXPECT_THAT(told_of("sync A\nwhen { Card/charge: [ order: ?o ] => ok[]  Order/ship: [ order: ?o ] => ok[] }\nthen { "
                      "Card/hold: [ card: \"c\" ] }"),
              IsEmpty());
  EXPECT_THAT(told_of("sync A\nwhen { Card/charge: [] => ok[]  caused by Order/pay: [] => requested }\nthen { "
                      "Card/hold: [ card: \"c\" ] }"),
              IsEmpty());
  EXPECT_THAT(told_of("sync A\nwhen { Card/charge: [ amount: ?a ] => ok[]  Order/ship: [ order: ?p ] => ok[] }\nwhere "
                      "{ Order: { ?p total: ?a } }\nthen { Card/hold: [ card: \"c\" ] }"),
              IsEmpty());
}

TEST(CheckSync, AQueryThatNothingTiesTakesEveryRow) {
  auto of = [](const std::string& conditions) {
    return told_of("sync A\nwhen { Card/charge: [ order: ?order ] => ok[] }\nwhere { " + conditions +
                   " }\nthen { Card/hold: [ card: \"c\" ] }");
  };
  std::string text =
      " warning join-without-key: sync `A` takes every row of `Order`: the query shares no variable with what stands "
      "before it, and has no value to look for [match its key or a field with a variable that is bound already, or "
      "with a value]";
  EXPECT_THAT(of("Order: { ?o total: ?t }"), ElementsAre("rules.sync:3:9+5" + text));
  EXPECT_THAT(of("Order: { ?o total: ?t }  Order.lines: { ?o item: ?i }"), ElementsAre("rules.sync:3:9+5" + text));
  EXPECT_THAT(of("Order: { ?o total: ?t }  bind(\"{{o}}!\" as ?x)"), ElementsAre("rules.sync:3:9+5" + text));
  for (const std::string tied :
       {"Order: { ?order total: ?t }", "Order: { ?o status: \"open\" }", "Order: { ?o total: ?t }  filter(?t > 3)",
        "Order: { ?o total: ?t }  filter(?o = ?order)", "Order.lines: { ?o item: ?i }  Order: { ?o status: \"open\" }",
        "Order: { ?o total: ?t }  no Order.lines: { ?o item: \"x\" }"}) {
    EXPECT_THAT(of(tied), IsEmpty()) << tied;
  }
}

TEST(CheckSync, AQueryWithNothingBeforeItMeansEveryRow) {
  EXPECT_THAT(told_of("sync A when { Card/charge: [] => ok[] } where { Order: { ?o total: ?t } } then { Card/charge: [ "
                      "order: ?o; amount: ?t ] }"),
              IsEmpty());
}

TEST(CheckSync, AnswersAreOfTheRequestsAction) {
  std::string head =
      "sync A when { Card/charge: [] => ok[ receipt: ?x ]  caused by Order/pay: [ order: ?o ] => requested as ?ask } "
      "then { ";
  EXPECT_THAT(told_of(head + "answer ?ask => ok[ order: ?o ] }"), IsEmpty());
  EXPECT_THAT(told_of(head + "answer ?ask => ok[] }"), IsEmpty());
  EXPECT_THAT(told_of(head + "answer ?ask => okay[] }"),
              ElementsAre("rules.sync:1:133+4 error unknown-variant: `Order/pay` has no variant `okay` [there is `ok` "
                          "and `declined`]"));
  EXPECT_THAT(told_of(head + "answer ?ask => declined[ reson: ?x ] }"),
              ElementsAre("rules.sync:1:143+5 error unknown-field: `Order/pay => declined` has no field `reson` [did "
                          "you mean `reason`?]"));
  EXPECT_THAT(told_of(head + "answer ?x => ok[] }"),
              ElementsAre("rules.sync:1:125+2 error bad-answer: only a Request can be answered, but `?x` is String "
                          "[bind it with `=> requested as ?x`]"));
}

TEST(CheckSync, ARequestMayComeFromState) {
  EXPECT_THAT(told_of("sync A when { Card/charge: [ order: ?o ] => ok[] } where { Order: { ?o asked: ?r } } then { "
                      "answer ?r => declined[ reason: \"x\" ] }"),
              IsEmpty());
  EXPECT_THAT(told_of("sync A when { Card/charge: [ order: ?o ] => ok[] } where { Order: { ?o asked: ?r } } then { "
                      "answer ?r => lost[] }"),
              ElementsAre("rules.sync:1:106+4 error unknown-variant: `Order/pay` has no variant `lost` [there is `ok` "
                          "and `declined`]"));
}

TEST(CheckSync, OnlyRequestsAreNamedWithAs) {
  EXPECT_THAT(told_of("sync A when { Order/pay: [] => ok[] as ?x } then { Card/hold: [ card: \"c\" ] }"),
              ElementsAre("rules.sync:1:40+2 error bad-answer: `as ?x` names a request: it belongs to a `=> requested` "
                          "pattern [write `=> requested as ?x`, or leave it out]"));
}

TEST(CheckSync, RepeatedVariantsBelongToWhatIsStarted) {
  EXPECT_THAT(told_of("sync A [eventual retry(refusd)] when { Order/pay: [] => ok[ order: ?o ] } then { Card/charge: [ "
                      "order: ?o; amount: 1 ] }"),
              ElementsAre("rules.sync:1:24+6 error unknown-variant: nothing that this sync starts has a variant "
                          "`refusd` [did you mean `refused`?]"));
}

TEST(CheckSync, TheEnginesConceptsAreThere) {
  EXPECT_THAT(told_of("sync A when { Order/pay: [ amount: ?a ] => requested as ?r } then { Timer/wait: [ name: \"x\"; "
                      "seconds: ?a ] Flow/undo: [ request: ?r ] }"),
              IsEmpty());
  EXPECT_THAT(
      told_of("sync A when { Timer/wait: [ name: \"x\" ] => ok[ at: ?t ] } then { Timer/wait: [ name: \"x\" ] }"),
      ElementsAre("rules.sync:1:72+4 error missing-argument: `Timer/wait` needs the argument `seconds: Int` [add "
                  "`seconds: ?seconds`, and bind it]"));
}

TEST(CheckSync, SymbolsAreResolvedForTheEngine) {
  Checked checked = check(kit_of({kOrder, kCard}, R"(sync A
  when { Card/charge: [ amount: ?a; order: ?o ] => ok[ receipt: ?x ] }
  where { Order: { ?o status: "open"; total: ?a; note: ?n }  Order.lines: { ?o item: ?n; count: ?k } }
  then { Order/pay: [ amount: ?k; order: ?o ] })"));
  ASSERT_TRUE(checked.kit);
  const SyncSymbol& sync = checked.kit->syncs().at(0);
  EXPECT_THAT(sync.when[0].input, ElementsAre(1, 0));
  EXPECT_THAT(sync.when[0].variants, ElementsAre(0));
  EXPECT_THAT(sync.when[0].output, ElementsAre(ElementsAre(1)));
  EXPECT_THAT(sync.then[0][0].fields, ElementsAre(1, 0));
  std::vector<std::string> variables;
  for (const VariableSymbol& each : sync.variables)
    variables.push_back(each.name + ": " + checked.kit->symbols().types.name(each.type));
  EXPECT_THAT(variables, ElementsAre("a: Int", "o: String", "x: String", "n: String", "k: Int"));
  const ConceptSymbol& order = checked.kit->symbols().concepts[0];
  EXPECT_EQ(order.relations[0].name, "");
  EXPECT_THAT(order.relations[0].indexed, ElementsAre(*find_field(order.relations[0].fields, "status"),
                                                      *find_field(order.relations[0].fields, "total")));
  EXPECT_EQ(order.relations[1].name, "lines");
  EXPECT_THAT(order.relations[1].indexed, ElementsAre(0));
}

TEST(CheckSync, AnArgumentIsGivenOnce) {
  EXPECT_THAT(told_of("sync A when { Card/charge: [] => ok[ card: ?c ] }\nthen { Card/hold: [ card: ?c; card: ?c ] }"),
              ElementsAre("rules.sync:2:31+4 error duplicate: a second argument `card` [keep one]"));
  EXPECT_THAT(told_of("sync A when { Order/pay: [ order: ?o ] => requested as ?r }\nthen { answer ?r => ok[ order: "
                      "?o; order: ?o ] }"),
              ElementsAre("rules.sync:2:36+5 error duplicate: a second field `order` [keep one]"));
  EXPECT_THAT(
      told_of("sync A when { Card/charge: [] => ok[] }\nthen { Order/place: [ customer: \"x\"; lines: [ { item: "
              "\"a\", count: 1, item: \"b\" } ] ] }"),
      ElementsAre("rules.sync:2:76+3 error duplicate: a second field `item` [keep one]"));
}

TEST(CheckSync, AnUnboundTargetOfAnAnswerIsNamedAsARequest) {
  EXPECT_THAT(
      told(kit_of({kOrder, kCard},
                  "sync A when { Card/hold: [] => ok[]  caused by Order/pay: [] => requested } then { answer ?r => "
                  "declined[ reason: \"no\" ] }\n"
                  "sync B when { Card/hold: [] => ok[] } then { answer ?r => ok[] }")),
      ElementsAre("rules.sync:1:91+2 error unbound-variable: sync `A`: `?r` in then is not bound by any pattern or "
                  "query [it could be bound by `Order/pay: […] => requested as ?r` in when or `Order: { asked: ?r "
                  "}` in where]",
                  "rules.sync:2:53+2 error unbound-variable: sync `B`: `?r` in then is not bound by any pattern or "
                  "query [it could be bound by `Order: { asked: ?r }` in where or `caused by Order/pay: [] => "
                  "requested as ?r` in when]"));
}

TEST(CheckSync, AVariableOfNoFieldsNameIsToldWhichFieldsHaveItsType) {
  EXPECT_THAT(
      told(kit_of({kOrder, kCard},
                  "sync A when { Order/place: [] => ok[ order: ?o ] } then { Order/pay: [ order: ?o; amount: ?x ] }")),
      ElementsAre("rules.sync:1:91+2 error unbound-variable: sync `A`: `?x` in then is not bound by any pattern or "
                  "query [no field of this kit has that name; of its type there is `Order/place: [] => ok[ total: "
                  "?x ]` in when]"));
}

TEST(CheckSync, AMisspeltArgumentIsToldOnce) {
  EXPECT_THAT(
      told(kit_of({kOrder, kCard},
                  "sync A when { Order/place: [] => ok[ order: ?o ] } then { Order/pay: [ order: ?o; amont: 1 ] }")),
      ElementsAre("rules.sync:1:83+5 error unknown-field: `Order/pay` has no argument `amont` [did you mean "
                  "`amount`?]"));
}

TEST(CheckSync, AFieldOfAPathIsPointedAt) {
  EXPECT_THAT(
      told(kit_of({kOrder, kCard},
                  "sync A when { Order/place: [] => ok[ total: ?total ] } where { Order: { ?o address: ?a } } then { "
                  "Card/charge: [ order: ?a.town; amount: ?total.total ] Card/charge: [ order: \"{{a.zipp}}\"; "
                  "amount: 1 ] }")),
      ElementsAre("rules.sync:1:124+4 error unknown-field: `?a` is { city: String, zip: String }, without a field "
                  "`town` [there is `city` and `zip`]",
                  "rules.sync:1:145+5 error unknown-field: `?total` is Int, without a field `total` [use the value as "
                  "it is, or take the field from a pattern or a row]",
                  "rules.sync:1:180+4 error unknown-field: `?a` is { city: String, zip: String }, without a field "
                  "`zipp` [did you mean `zip`?]"));
}

TEST(CheckSync, AnAnswerSuitsEachActionThatTheRequestMayBe) {
  std::string two =
      "concept A [P] { state { asked: P -> option Request } actions { action one(n: Int) { runs: answered -> ok(v: "
      "Int) "
      "}\naction two(n: Int) { runs: answered -> ok(v: String) }\naction go(p: P) { -> ok } } }";
  EXPECT_THAT(
      told(kit_of({two},
                  "sync S when { A/go: [ p: ?p ] => ok[] }\nwhere { A: { ?p asked: ?r } }\nthen { answer ?r => "
                  "ok[ v: 1 ] }")),
      ElementsAre("rules.sync:3:28+1 error type-mismatch: `v` of A/two => ok takes String, not 1 [write a value "
                  "of type String]"));
}

TEST(CheckSync, ARequestIsAnsweredOnce) {
  EXPECT_THAT(
      told(kit_of({kOrder, kCard},
                  "sync S when { Order/pay: [ order: ?o ] => requested as ?r }\nthen { answer ?r => ok[]  answer "
                  "?r => declined[ reason: \"x\" ] }")),
      ElementsAre("rules.sync:2:34+2 error duplicate: a second answer to `?r`, which the first has ended [keep "
                  "one; what decides between them is the where of two syncs]"));
}

TEST(CheckSync, WhatIsDoneIsNotRepeated) {
  EXPECT_THAT(
      told(kit_of({kOrder, kCard},
                  "sync S [eventual retry(ok)] when { Order/ship: [] => lost[ order: ?o ] } then { Order/ship: [ "
                  "order: ?o; priority: \"fast\" ] }")),
      ElementsAre("rules.sync:1:24+2 error annotation-conflict: `ok` means done: it is never repeated [name the "
                  "variants after which it is tried again]"));
}

TEST(CheckSync, AUnionNamesItsCandidates) {
  std::string by = "concept By { actions { action go(to: \"Card\" | \"Cash\") { -> ok } } }";
  auto with = [&](const std::string& candidates) {
    return told(kit_of({kCard, by}, "sync S when { By/go: [ to: ?t ] => ok[] }\nthen { ?t in {" + candidates +
                                        "}/hold: [ card: \"c\" ] }"));
  };
  EXPECT_THAT(with("Card"), testing::IsEmpty());
  std::string one = "concept Bank { actions { action hold(card: String) { -> ok } } }";
  EXPECT_THAT(
      told(kit_of({kCard, by, one},
                  "sync S when { By/go: [ to: ?t ] => ok[] }\nthen { ?t in {Card, Bank}/hold: [ card: \"c\" ] }")),
      ElementsAre("rules.sync:2:21+4 error type-mismatch: `?t` is \"Card\" | \"Cash\", and never names `Bank` "
                  "[leave the candidate out, or bind the variable to a String that holds its name]"));
}

TEST(CheckSync, ACandidateIsNamedOnce) {
  EXPECT_THAT(told(kit_of({kCard},
                          "sync A when { Card/charge: [ order: ?p ] => ok[ card: ?c ] } then { ?p in {Card, "
                          "Card}/hold: [ card: ?c ] }")),
              testing::ElementsAre("rules.sync:1:82+4 error duplicate: a second candidate `Card` [remove one]"));
}

}  // namespace check_sync_test
}  // namespace sluice::lang
