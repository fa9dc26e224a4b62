// Invariants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_invariant_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CheckInvariant, StepsNameActionsVariantsAndFields) {
  EXPECT_THAT(told_of_thing(
                  "", "invariant { after make(name: n, size: 1) -> ok(thing: t)\n then get(thing: t) -> ok(name: n) }"),
              IsEmpty());
  EXPECT_THAT(
      told_of_thing("",
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
      told_of_thing("",
                    "invariant { after make(name: n, size: 1) -> ok(thing: t)\n then get(thing: u) -> ok(name: n) }"),
      ElementsAre("0.concept:14:18+1 error unbound-variable: `u` is neither bound by a step before it nor a "
                  "field of the state [bind it in a step of `after`: its arguments may be free, its outcome gives "
                  "values]"));
}

TEST(CheckInvariant, ContractsSeeArgumentsAndFields) {
  EXPECT_THAT(told_of_thing("", "action make {\n requires: size > 0\n ensures ok: thing != name }"), IsEmpty());
  EXPECT_THAT(
      told_of_thing("", "action make {\n requires: size > \"0\"\n ensures ok: message != name\n ensures okk: true }"),
      ElementsAre("0.concept:14:19+3 error type-mismatch: these have no order: one is Int, the other String "
                  "[compare values of one type]",
                  "0.concept:15:14+7 error unbound-variable: `message` is neither bound by a step before it nor a "
                  "field of the state [bind it in a step of `after`: its arguments may be free, its outcome gives "
                  "values]",
                  "0.concept:16:10+3 error unknown-variant: `make` has no variant `okk` [did you mean `ok`?]"));
}

TEST(CheckInvariant, AMistypedNameIsToldWithTheNearest) {
  EXPECT_THAT(
      told_of_thing("", "eventually { forall t in thingz: t.size > 0 }"),
      ElementsAre("0.concept:13:26+6 error unbound-variable: `thingz` is neither bound by a step before it nor a "
                  "field of the state [did you mean `things`?]"));
}

TEST(CheckInvariant, NoStepNamesAnotherConcept) {
  EXPECT_THAT(
      told_of_thing("", "scenario { when { A/make(name: \"n\", size: 1) -> ok(thing: t) } then { t.size = 1 } }"),
      IsEmpty());
  EXPECT_THAT(
      told_of_thing("", "scenario { when { B/make(name: \"n\") -> ok(thing: t) }\n then { t.size = 1 } }"),
      ElementsAre("0.concept:13:19+1 error foreign-step: an invariant of `A` names `B/make`, but a concept knows "
                  "no other and is tested alone [leave the step out: what one concept does to another is a "
                  "sync's]"));
}

TEST(CheckInvariant, AScenarioNamesValuesAndItsAnchor) {
  EXPECT_THAT(told_of_thing(
                  "",
                  "scenario {\n fixture box { name: \"n\", size: 2 }\n given { make(name: name, size: $box.size) -> "
                  "ok(thing: t) }\n when { get(thing: $first.thing) -> ok }\n then { t.size = box.size }\n settlement: "
                  "\"async-with-anchor\" { anchor: \"get\" } }"),
              IsEmpty());
  EXPECT_THAT(
      told_of_thing(
          "",
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
      told_of_thing(
          "", "scenario { fixture first { size: $first.size }\n then { make(name: \"n\", size: $first.size) -> ok } }"),
      IsEmpty());
}

TEST(CheckInvariant, AStepOfThenGivesItsArgumentsOnceAndAll) {
  EXPECT_THAT(
      told_of_thing("",
                    "invariant { after make(name: n, size: 1, size: 2) -> ok(thing: t, thing: u)\n then get() -> ok }"),
      ElementsAre("0.concept:13:42+4 error duplicate: a second argument `size` [keep one]",
                  "0.concept:13:67+5 error duplicate: a second field `thing` [keep one]",
                  "0.concept:14:7+3 error missing-argument: this step lacks the argument `thing` of `get` [add "
                  "`thing: …`]"));
}

TEST(CheckInvariant, ATitleIsGivenOnce) {
  EXPECT_THAT(
      told_of_thing("",
                    "example \"e\" { after make(name: \"n\", size: 1) -> ok(thing: t) then 1 = 1 }\n"
                    "always \"e\" { 1 = 1 }\nalways { 1 = 1 }\nalways { 2 = 2 }"),
      ElementsAre("0.concept:14:9+1 error duplicate: a second invariant `e` [rename or remove one; the first is at "
                  "line 13]"));
}

}  // namespace check_invariant_test
}  // namespace sluice::lang
