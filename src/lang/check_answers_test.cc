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
