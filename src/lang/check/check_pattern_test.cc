// What a pattern can match, when it is one of several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_pattern_test {

using testing::ElementsAre;
using testing::IsEmpty;

// Two concepts whose actions differ in what they end with; `look` is a query.
const std::string kMix =
    "concept A [P] { actions { action mix(n: Int) { -> ok(x: Int) -> bad(x: Float) }\naction ask(n: Int) { runs: "
    "answered -> ok(y: String) }\naction look(q: Int) { runs: query -> ok(z: Int) }\naction int(n: Int) { -> ok } } }";
const std::string kOther = "concept B [Q] { actions { action mix(n: String) { -> ok(w: Bool) } } }";

std::vector<std::string> when(const std::string& pattern, const std::string& then = "A/int: [ n: 1 ]") {
  return told(kit_of({kMix, kOther}, "sync S when { " + pattern + " }\nthen { " + then + " }"));
}

TEST(CheckPattern, WhatNoCandidateHasIsAnError) {
  EXPECT_THAT(when("?c/?a: [] => []"), IsEmpty());
  EXPECT_THAT(when("A/?a: [ n: ?n ] => ok[ x: ?x ]"), IsEmpty());
  EXPECT_THAT(when("?c/nosuch: [] => ok[]"),
              ElementsAre("rules.sync:1:18+6 error unknown-action: no concept has an action `nosuch` that leaves a "
                          "record [there is `mix`, `ask`, `int`, `wait` and `undo`]"));
  EXPECT_THAT(when("A/?a: [ zzz: ?x ] => nosuch[ qqq: ?y ]"),
              ElementsAre("rules.sync:1:23+3 error unknown-field: an argument that any action of `A` does not have: "
                          "`zzz` [there is `n`]",
                          "rules.sync:1:36+6 error unknown-variant: a variant that any action of `A` with these "
                          "arguments does not have: `nosuch` [there is `ok` and `bad`]"));
  EXPECT_THAT(when("A/?a: [] => ok[ qqq: ?y ]"),
              ElementsAre("rules.sync:1:31+3 error unknown-field: `ok` of any action of `A` has no field `qqq` [there "
                          "is `x` and `y`]"));
  EXPECT_THAT(when("B/?a: [] => requested"),
              ElementsAre("rules.sync:1:17+2 error not-answered: nothing that this can match is answered, so it is "
                          "never requested [match a variant of it, or declare it `runs: answered`]"));
}

TEST(CheckPattern, AFieldOfSeveralHasTheTypeThatTakesEach) {
  EXPECT_THAT(when("A/mix: [] => [ x: ?x ]", "A/int: [ n: ?x ]"),
              ElementsAre("rules.sync:2:20+2 error type-mismatch: `?x` is Float, but `n` of A/int takes Int [give it a "
                          "value of type Int]"));
  EXPECT_THAT(when("?c/mix: [ n: ?n ] => ok[]"),
              ElementsAre("rules.sync:1:25+1 error type-mismatch: `n` of any action `mix` is Int in one action and "
                          "String in another [name the action that is meant]"));
  EXPECT_THAT(when("?c/mix: [ n: ?n ] => bad[]", "A/int: [ n: ?n ]"), IsEmpty());
}

TEST(CheckPattern, EachAlternativeHasWhatIsNamed) {
  EXPECT_THAT(when("A/{mix, int}: [ n: ?n ] => ok[]", "A/int: [ n: ?n ]"), IsEmpty());
  EXPECT_THAT(when("A/mix: [] => {ok, bad}[ x: ?x ]", "A/int: [ n: ?x ]"),
              ElementsAre("rules.sync:2:20+2 error type-mismatch: `?x` is Float, but `n` of A/int takes Int [give it a "
                          "value of type Int]"));
  EXPECT_THAT(when("A/{mix, int}: [] => ok[ x: _ ]"),
              ElementsAre("rules.sync:1:39+1 error unknown-field: `A/int => ok` has no field `x` [there is none: leave "
                          "it out]"));
  EXPECT_THAT(when("A/{mix, int}: [] => bad[]"),
              ElementsAre("rules.sync:1:23+3 error unknown-variant: `A/int` has no variant `bad` [there is `ok`]"));
  EXPECT_THAT(when("A/{mix, int}: [] => {ok, nosuch}[]"),
              ElementsAre("rules.sync:1:40+6 error unknown-variant: `A/{mix, int}` has no variant `nosuch` [there is "
                          "`ok` and `bad`]"));
  EXPECT_THAT(when("A/{mix, mix}: [] => ok[]"),
              ElementsAre("rules.sync:1:23+3 error duplicate: a second `mix` [keep one]"));
  EXPECT_THAT(when("A/{mix, look}: [] => ok[]"),
              ElementsAre("rules.sync:1:23+4 error query-matched: `A/look` is a query: it leaves no record, so no sync "
                          "can match it [match an action that changes something, or read the rows themselves in "
                          "where]"));
  EXPECT_THAT(when("A/{ask, mix}: [] => requested"),
              ElementsAre("rules.sync:1:23+3 error not-answered: `A/mix` is not answered, so it is never requested: it "
                          "runs and completes [match a variant of it, or declare it `runs: answered`]"));
  EXPECT_THAT(when("A/{mix, nosuch}: [] => ok[]"),
              ElementsAre("rules.sync:1:23+6 error unknown-action: `A` has no action `nosuch` [there is `mix`, `ask`, "
                          "`look` and `int`]"));
  EXPECT_THAT(when("A/mix: [] => engine.{fault, conflict}[ message: ?m; expected: _ ]", "A/int: [ n: ?m ]"),
              ElementsAre("rules.sync:1:67+8 error unknown-field: `engine.fault` has no field `expected` [there is "
                          "`message`]",
                          "rules.sync:2:20+2 error type-mismatch: `?m` is String, but `n` of A/int takes Int [give it "
                          "a value of type Int]"));
}

TEST(CheckPattern, AnAnswerSuitsEachAlternative) {
  const std::string two =
      "concept W [P] { actions { action a() { runs: answered -> ok -> no } action b() { runs: answered -> ok } action "
      "w() { -> ok } } }";
  auto rules = [&](const std::string& variant) {
    return told(
        kit_of({two}, "sync S when { W/{a, b}: [] => requested as ?ask } then { answer ?ask => " + variant + "[] }"));
  };
  EXPECT_THAT(rules("ok"), IsEmpty());
  EXPECT_THAT(rules("no"),
              ElementsAre("rules.sync:1:73+2 error unknown-variant: `W/b` has no variant `no` [there is `ok`]"));
}

TEST(CheckPattern, WhatMayBeNothingIsGivenToOptionsAlone) {
  auto rules = [](const std::string& field, const std::string& then) {
    return told(kit_of({kOrder, kCard}, "sync S when { Order/place: [ customer: ?c; lines: ?l; note: " + field +
                                            " ] => ok[] }\nthen { " + then + " }"));
  };
  EXPECT_THAT(rules("?n?", "Order/place: [ customer: ?c; lines: ?l; note: ?n ]"), IsEmpty());
  EXPECT_THAT(rules("?n", "Order/place: [ customer: ?n; lines: ?l; note: ?c ]"), IsEmpty());
  EXPECT_THAT(
      rules("?n?", "Order/place: [ customer: ?n; lines: ?l; note: ?c ]"),
      ElementsAre("rules.sync:2:33+2 error type-mismatch: `?n` is option String, but `customer` of Order/place "
                  "takes String [name it with `bind(… as ?x)` and keep it with `filter(?x != null)` in where]"));
  EXPECT_THAT(rules("?c?", "Order/place: [ customer: ?c; lines: ?l ]"),
              ElementsAre("rules.sync:1:61+2 error duplicate: `?c` is bound already [write `?c?` where it is bound, "
                          "once, or choose another name]"));
}

TEST(CheckPattern, EngineOutcomesHaveTheirOwnFields) {
  EXPECT_THAT(when("A/mix: [] => engine.conflict[ message: ?m; expected: ?e; at: ?t ]", "A/int: [ n: ?e ]"), IsEmpty());
  EXPECT_THAT(when("A/mix: [] => engine.conflict[ message: ?m ]", "A/int: [ n: ?m ]"),
              ElementsAre("rules.sync:2:20+2 error type-mismatch: `?m` is String, but `n` of A/int takes Int [give it "
                          "a value of type Int]"));
  EXPECT_THAT(when("A/mix: [] => engine.fault[ current: ?m ]"),
              ElementsAre("rules.sync:1:42+7 error unknown-field: `engine.fault` has no field `current` [there is "
                          "`message`]"));
}

TEST(CheckPattern, AQueryHasNothingToGuard) {
  EXPECT_THAT(told(kit_of({kMix}, "guard G before { A/look: [] } require { filter(1 = 1) } else ok[ z: 1 ]")),
              ElementsAre("rules.sync:1:20+4 error query-matched: `A/look` is a query: it changes nothing, so there is "
                          "nothing to guard [guard an action that changes something]"));
}

}  // namespace check_pattern_test
}  // namespace sluice::lang
