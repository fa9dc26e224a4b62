// Fixtures and invariants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/testing_kit.h"

namespace sluice::lang {
namespace check_invariant_test {

using testing::ElementsAre;
using testing::IsEmpty;

// A concept with one more thing inside an action, and one beside the actions.
std::vector<std::string> with(const std::string& fixture, const std::string& invariant) {
  return told(
      kit_of({"concept A [T] {\n  state { things: set T\n size: T -> Int }\n  actions {\n    action make(name: String, "
              "size: Int) {\n"
              "      -> ok(thing: T)\n      -> bad(message: String)\n      fixture first { name: \"a\", size: 1 }\n" +
              fixture + "\n    }\n    action get(thing: T) { -> ok(name: String, size: Int) -> gone }\n  }\n" +
              invariant + "\n}"},
             ""));
}

TEST(CheckInvariant, FixturesGiveEveryArgumentItsType) {
  EXPECT_THAT(with("fixture second { name: $first.name, size: 2 } after first -> bad", ""), IsEmpty());
  EXPECT_THAT(
      with("fixture second { nme: \"b\", size: \"2\" } after frist -> bda", ""),
      ElementsAre("0.concept:9:18+3 error unknown-field: `make` has no argument `nme` [did you mean `name`?]",
                  "0.concept:9:34+3 error type-mismatch: `size` of make is Int, not \"2\" [write a value of type Int]",
                  "0.concept:9:46+5 error unknown-fixture: there is no fixture `frist` [did you mean `first`?]",
                  "0.concept:9:55+3 error unknown-variant: `make` has no variant `bda` [did you mean `bad`?]"));
  EXPECT_THAT(
      with("fixture second { size: 2 }", ""),
      ElementsAre("0.concept:9:9+6 error missing-argument: fixture `second` lacks the argument `name` of `make` [add "
                  "`name: …`]"));
  EXPECT_THAT(
      with("fixture first { name: \"b\", size: 2 }", ""),
      ElementsAre("0.concept:9:9+5 error duplicate: a second fixture `first` [rename one; the first is at line 8]"));
  EXPECT_THAT(
      with("fixture second { name: $first.thng, size: $fist.size } after first", ""),
      ElementsAre("0.concept:9:24+11 error unknown-field: `make -> ok` has no field `thng` [did you mean `thing`?]",
                  "0.concept:9:43+5 error unknown-fixture: there is no fixture `fist` [did you mean `first`?]"));
}

TEST(CheckInvariant, StepsNameActionsVariantsAndFields) {
  EXPECT_THAT(
      with("", "invariant { after make(name: n, size: 1) -> ok(thing: t)\n then get(thing: t) -> ok(name: n) }"),
      IsEmpty());
  EXPECT_THAT(
      with("",
           "invariant { after mak(name: n) -> ok(thing: t)\n then get(thng: t) -> okay\n and get(thing: t) -> "
           "ok(size: \"x\") }"),
      ElementsAre(
          "0.concept:13:19+3 error unknown-action: `A` has no action `mak` [did you mean `make`?]",
          "0.concept:14:11+4 error unknown-field: `get` has no argument `thng` [did you mean `thing`?]",
          "0.concept:14:23+4 error unknown-variant: `get` has no variant `okay` [there is `ok` and `gone`]",
          "0.concept:15:32+3 error type-mismatch: `size` of get -> ok is Int, not \"x\" [write a value of type Int]"));
}

TEST(CheckInvariant, StepsOfThenKnowTheirArguments) {
  EXPECT_THAT(
      with("", "invariant { after make(name: n, size: 1) -> ok(thing: t)\n then get(thing: u) -> ok(name: n) }"),
      ElementsAre("0.concept:14:18+1 error unbound-variable: `u` is neither bound by a step before it nor a "
                  "field of the state [bind it in a step of `after`: its arguments may be free, its outcome gives "
                  "values]"));
}

TEST(CheckInvariant, ContractsSeeArgumentsAndFields) {
  EXPECT_THAT(with("", "action make {\n requires: size > 0\n ensures ok: thing != name }"), IsEmpty());
  EXPECT_THAT(
      with("", "action make {\n requires: size > \"0\"\n ensures ok: message != name\n ensures okk: true }"),
      ElementsAre("0.concept:14:19+3 error type-mismatch: these have no order: one is Int, the other String "
                  "[compare values of one type]",
                  "0.concept:15:14+7 error unbound-variable: `message` is neither bound by a step before it nor a "
                  "field of the state [bind it in a step of `after`: its arguments may be free, its outcome gives "
                  "values]",
                  "0.concept:16:10+3 error unknown-variant: `make` has no variant `okk` [did you mean `ok`?]"));
}

TEST(CheckInvariant, AMistypedNameIsToldWithTheNearest) {
  EXPECT_THAT(
      with("", "eventually { forall t in thingz: t.size > 0 }"),
      ElementsAre("0.concept:13:26+6 error unbound-variable: `thingz` is neither bound by a step before it nor a "
                  "field of the state [did you mean `things`?]"));
}

TEST(CheckInvariant, NoStepNamesAnotherConcept) {
  EXPECT_THAT(with("", "scenario { when { A/make(name: \"n\", size: 1) -> ok(thing: t) } then { t.size = 1 } }"),
              IsEmpty());
  EXPECT_THAT(
      with("", "scenario { when { B/make(name: \"n\") -> ok(thing: t) }\n then { t.size = 1 } }"),
      ElementsAre("0.concept:13:19+1 error foreign-step: an invariant of `A` names `B/make`, but a concept knows "
                  "no other and is tested alone [leave the step out: what one concept does to another is a "
                  "sync's]"));
}

TEST(CheckInvariant, AScenarioNamesValuesAndItsAnchor) {
  EXPECT_THAT(
      with("",
           "scenario {\n fixture box { name: \"n\", size: 2 }\n given { make(name: name, size: $box.size) -> "
           "ok(thing: t) }\n when { get(thing: $first.thing) -> ok }\n then { t.size = box.size }\n settlement: "
           "\"async-with-anchor\" { anchor: \"get\" } }"),
      IsEmpty());
  EXPECT_THAT(
      with("",
           "scenario {\n fixture box { name: 1 }\n when { make(name: name, size: $box.sise) -> ok(thing: t) }\n"
           " then { get(thing: $frist.thing) -> ok and t.size = $first.syze }\n"
           " settlement: \"async-with-anchor\" { anchor: \"B/get\" } }"),
      ElementsAre("0.concept:14:22+1 error type-mismatch: `name` of make is String, not 1 [write a value of type "
                  "String]",
                  "0.concept:15:32+9 error unknown-field: the fixture `box` has no field `sise` [there is `name`]",
                  "0.concept:16:20+6 error unknown-fixture: there is no fixture `frist` [did you mean `first`?]",
                  "0.concept:16:53+11 error unknown-field: `make -> ok` has no field `syze` [there is `thing`]",
                  "0.concept:17:2+10 error unknown-action: the anchor `B/get` is no action of `A` [did you mean "
                  "`get`?]"));
  // A scenario's fixture that takes from an action's of the same name does not go round in circles.
  EXPECT_THAT(
      with("",
           "scenario { fixture first { size: $first.size }\n then { make(name: \"n\", size: $first.size) -> ok } }"),
      IsEmpty());
}

TEST(CheckInvariant, AFixtureGivesTheTextOfWhatIsSealed) {
  std::string text =
      "concept A [T] { actions { action open(key: Sealed) { runs: effect -> ok fixture f { key: @ } } } }";
  auto with_key = [&](const std::string& key) {
    std::string given = text;
    given.replace(given.find('@'), 1, key);
    return told(kit_of({given}, ""));
  };
  EXPECT_THAT(with_key("\"hunter2\""), IsEmpty());
  EXPECT_THAT(with_key("2"),
              ElementsAre("0.concept:1:90+1 error type-mismatch: `key` of open is Sealed, not 2 [write a "
                          "value of type Sealed]"));
}

TEST(CheckInvariant, FixturesDoNotRunInACircle) {
  EXPECT_THAT(
      with("fixture a { name: \"a\", size: 1 } after b\nfixture b { name: \"a\", size: 1 } after a", ""),
      ElementsAre("0.concept:9:40+1 error fixture-circle: fixtures `a` and `b` run after one another, so neither "
                  "does [take out one `after`]"));
  EXPECT_THAT(
      with("fixture a { name: \"a\", size: 1 } after a", ""),
      ElementsAre("0.concept:9:40+1 error fixture-circle: fixture `a` runs after itself [take out one `after`]"));
}

TEST(CheckInvariant, AFixtureTakesValuesOfThoseBeforeIt) {
  EXPECT_THAT(
      with("fixture a { name: $a.name, size: 1 }\nfixture b { name: $first.name, size: 1 }", ""),
      ElementsAre("0.concept:9:19+2 error unknown-fixture: `a` takes a value of itself [write the value]",
                  "0.concept:10:19+6 error unknown-fixture: `first` has not run when `b` does [write `after first` "
                  "behind the fixture]"));
}

TEST(CheckInvariant, AStepOfThenGivesItsArgumentsOnceAndAll) {
  EXPECT_THAT(
      with("", "invariant { after make(name: n, size: 1, size: 2) -> ok(thing: t, thing: u)\n then get() -> ok }"),
      ElementsAre("0.concept:13:42+4 error duplicate: a second argument `size` [keep one]",
                  "0.concept:13:67+5 error duplicate: a second field `thing` [keep one]",
                  "0.concept:14:7+3 error missing-argument: this step lacks the argument `thing` of `get` [add "
                  "`thing: …`]"));
}

TEST(CheckInvariant, WhatAStepGivesHasItsType) {
  EXPECT_THAT(with("",
                   "forall \"x\" { given q in {\"a\"} after make(name: \"n\", size: q) -> ok(thing: t)\n then "
                   "get(thing: t.size) -> ok }"),
              ElementsAre("0.concept:13:59+1 error type-mismatch: `q` is \"a\", but `size` of make is Int [give one of "
                          "them another name]",
                          "0.concept:14:18+6 error type-mismatch: `thing` of get is T of A, but this is Int [give it a "
                          "value of type T of A]"));
}

}  // namespace check_invariant_test
}  // namespace sluice::lang
