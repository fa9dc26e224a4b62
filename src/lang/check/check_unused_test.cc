// Variables that are bound and never used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_unused_test {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kTask = R"(concept Task [T] {
  state {
    tasks: set T
    owner: T -> String
    rank: T -> Int
  }
  actions {
    action add(task: T, owner: String) { -> ok(task: T, rank: Int) -> taken }
    action ask(task: T) { runs: answered -> ok }
  }
}
)";

std::vector<std::string> unused(const std::string& rules) { return told_of_unused(kit_of({kTask}, rules)); }

TEST(CheckUnused, APatternThatBindsForNobody) {
  EXPECT_THAT(
      unused("sync A when { Task/add: [ task: ?t; owner: ?o ] => ok[] } then { Task/ask: [ task: ?t ] }"),
      ElementsAre("rules.sync:1:44+2 warning unused-variable: sync `A`: `?o` is bound and never used [leave the "
                  "field out, or write `_` if it must be there]"));
  EXPECT_THAT(unused("sync A when { Task/add: [ task: ?t; owner: _ ] => ok[] } then { Task/ask: [ task: ?t ] }"),
              IsEmpty());
}

TEST(CheckUnused, AJoinWithoutItsKey) {
  const std::string when = "sync A when { Task/add: [ task: ?t; owner: ?o ] => ok[] } where { Task: { ?u owner: ";
  EXPECT_THAT(unused(when + "?o } } then { Task/ask: [ task: ?u ] }"),
              ElementsAre(testing::HasSubstr("`?t` is bound and never used")));
  EXPECT_THAT(unused(when + "?p } } then { Task/ask: [ task: ?u ] Task/ask: [ task: ?t ] }"),
              ElementsAre(testing::HasSubstr(":1:44+2 warning"), testing::HasSubstr(":1:85+2 warning")));
}

TEST(CheckUnused, WhatASecondNameABindOrARequestBindsForNobody) {
  EXPECT_THAT(
      unused("sync A when { Task/ask: [ task: ?t ] => requested as ?r } where { bind(?t as ?x) } then { Task/add: "
             "[ task: ?t; owner: \"{{t}}\" ] }"),
      ElementsAre(testing::HasSubstr("`?r` is bound and never used [take out `as ?r`]"),
                  testing::HasSubstr("`?x` is bound and never used [take the line out]")));
}

TEST(CheckUnused, AGuardThatLooksAtEverybodysRows) {
  EXPECT_THAT(unused("guard G before { Task/add: [ task: ?t; owner: ?o ] } require { no Task: { owner: ?p } } else "
                     "engine.refused[ message: \"{{t}} {{o}}\" ]"),
              ElementsAre(testing::HasSubstr("guard `G`: `?p` is bound and never used")));
}

TEST(CheckUnused, WhatMustStandThereMayBeUnused) {
  EXPECT_THAT(unused("sync A when { ?c/?a: [ task: ?t ] => ok[] } where { Task: { ?u rank: 1 } } then { Task/ask: [ "
                     "task: ?t ] }"),
              IsEmpty());
}

}  // namespace check_unused_test
}  // namespace sluice::lang
