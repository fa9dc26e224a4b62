// Requests that nothing answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/testing_kit.h"

namespace sluice::lang {
namespace check_answers_test {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kNested =
    "concept B [Q] { actions {\naction ask(n: Int) { runs: answered -> ok(v: Int) }\naction mid(n: Int) { runs: "
    "answered "
    "-> ok(v: Int) }\naction eff(n: Int) { runs: effect -> ok(v: Int) } } }";

const std::string kBegin =
    "sync A when { B/ask: [ n: ?n ] => requested } then { B/mid: [ n: ?n ] }\n"
    "sync M when { B/mid: [ n: ?n ] => requested } then { B/eff: [ n: ?n ] }\n"
    "sync D when { B/eff: [] => ok[ v: ?v ]  caused by B/mid: [] => requested as ?m";

TEST(CheckAnswers, AnOuterRequestMayBeAnsweredFromBeneathAnInnerOne) {
  EXPECT_THAT(told_of_flow(kit_of({kNested},
                                  kBegin + "  caused by B/ask: [] => requested as ?a } then { answer ?m => ok[ v: ?v ] "
                                           " answer ?a => ok[ v: ?v ] }")),
              IsEmpty());
  EXPECT_THAT(
      told_of_flow(kit_of({kNested}, kBegin + " } then { answer ?m => ok[ v: ?v ] }")),
      ElementsAre("rules.sync:1:54+5 warning no-answer: `B/ask` is never answered after `B/mid` => `ok` [write a "
                  "sync: `when { B/mid: [] => …  caused by B/ask: [] => requested as ?ask } then { answer ?ask "
                  "=> … }`]"));
}

TEST(CheckAnswers, AnEventualSyncKeepsNoRequestOpen) {
  const std::string done = "sync D when { B/eff: [] => ok[ v: ?v ]  caused by B/ask: [] => requested as ?a } then { ";
  const std::string answer = done + "answer ?a => ok[ v: ?v ] }\n";
  EXPECT_THAT(
      told_of_flow(kit_of(
          {kNested}, "sync A [eventual] when { B/ask: [ n: ?n ] => requested } then { B/eff: [ n: ?n ] }\n" + answer)),
      testing::Contains(
          testing::HasSubstr("only [eventual] syncs match `B/ask: [] => requested`: every request ends in "
                             "engine.unanswered [make the sync that does its work [eager]]")));
  const std::string begin = "sync A when { B/ask: [ n: ?n ] => requested } then { B/eff: [ n: ?n ] }\n";
  const std::string later = "sync L [eventual] when { B/eff: [ n: ?n ] => ok[] } then { B/eff: [ n: ?n ] }\n";
  EXPECT_THAT(told_of_flow(kit_of({kNested}, begin + answer + later)),
              testing::Not(testing::Contains(testing::HasSubstr("`B/ask`"))));
  EXPECT_THAT(told_of_flow(kit_of({kNested}, begin + later)),
              testing::Contains(testing::HasSubstr("`B/ask` is never answered after `B/eff` => `ok`")));
}

TEST(CheckAnswers, APatternThatLeavesItsActionOpenMayAnswer) {
  EXPECT_THAT(told_of_flow(kit_of({kNested},
                                  "sync A when { B/?a: [ n: _ ] => requested as ?r } then { answer ?r => "
                                  "ok[ v: 1 ] }")),
              IsEmpty());
}

TEST(CheckAnswers, WhatSeveralRequestsLackIsToldOnce) {
  EXPECT_THAT(
      told_of_flow(kit_of({kNested},
                          "sync A when { B/ask: [ n: ?n ] => requested } then { B/eff: [ n: ?n ] }\n"
                          "sync M when { B/mid: [ n: ?n ] => requested } then { B/eff: [ n: ?n ] }")),
      ElementsAre("rules.sync:1:54+5 warning no-answer: `B/ask` and one other are never answered after `B/eff` => "
                  "`ok` [write a sync: `when { B/eff: [] => …  caused by B/ask: [] => requested as ?ask } then { "
                  "answer ?ask => … }`]"));
}

}  // namespace check_answers_test
}  // namespace sluice::lang
