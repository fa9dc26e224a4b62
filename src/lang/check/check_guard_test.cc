// Guards: what they look at, and the variant with which they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_guard_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> told_of(const std::string& rules) { return told(kit_of({kOrder, kCard}, rules)); }

TEST(CheckGuard, AcceptsBothForms) {
  EXPECT_THAT(told_of(R"(guard PaidBeforeShipped
  before { Order/ship: [ order: ?o ] }
  require { Order: { ?o status: "paid" } }
  else lost[ order: ?o ]
guard LinesAreSmall
  over { Order.lines: { ?o item: ?i; count: ?n } }
  require { filter(?n < 100) no Card: { owner: ?i } }
  else engine.refused[ message: "too many of {{i}} in {{o}}" ])"),
              IsEmpty());
}

TEST(CheckGuard, AGuardNamesItsConceptAndItsAction) {
  std::string hint =
      " [write `before { Concept/action: [ … ] }`, one guard an action, or guard the rows that they write with `over { "
      "Concept: { … } }`]";
  EXPECT_THAT(
      told_of("guard G before { ?c/?a: [ order: ?o ] } require { Order: { ?o } } else invented[ made: \"up\" ]"),
      ElementsAre("rules.sync:1:18+2 error guard-target: a guard names its concept and its action, but `?c` is a "
                  "variable" +
                  hint));
  EXPECT_THAT(told_of("guard G before { Order/?a: [ order: ?o ] } require { Order: { ?o } } else lost[ order: ?o ]"),
              ElementsAre("rules.sync:1:24+2 error guard-target: a guard names its concept and its action, but `?a` is "
                          "a variable" +
                          hint));
}

TEST(CheckGuard, HintsOfUnboundVariablesNameTheClausesOfAGuard) {
  EXPECT_THAT(
      told_of("guard G before { Order/ship: [] } require { filter(?order != \"x\") } else lost[ order: ?o ]"),
      ElementsAre("rules.sync:1:52+6 error unbound-variable: guard `G`: `?order` in require is not bound by any "
                  "pattern or query [it could be bound by `Order/ship: [ order: ?order ]` in before]",
                  "rules.sync:1:87+2 error unbound-variable: guard `G`: `?o` in else is not bound by any pattern "
                  "or query [it could be bound by `Order/ship: [ order: ?o ]` in before or `Order: { ?o … }` in "
                  "where]"));
  EXPECT_THAT(
      told_of("guard G over { Order: { status: \"open\" } } require { filter(?total > 3) } else engine.refused[ "
              "message: \"{{nothing}}\" ]"),
      ElementsAre("rules.sync:1:61+6 error unbound-variable: guard `G`: `?total` in require is not bound by any "
                  "pattern or query [it could be bound by `Order: { total: ?total }` in over]",
                  "rules.sync:1:108+7 error unbound-variable: guard `G`: `?nothing` in else is not bound by any "
                  "pattern or query [no field of this kit has that name; write a value, or bind it in over or where]"));
}

TEST(CheckGuard, TheBoundActionDeclaresTheVariant) {
  EXPECT_THAT(
      told_of("guard G before { Order/ship: [ order: ?o ] } require { Order: { ?o status: \"paid\" } } else unpaid[]"),
      ElementsAre("rules.sync:1:92+6 error guard-variant: `Order/ship` has no variant `unpaid` "
                  "[declare it, or write `else engine.refused[ message: \"…\" ]`]"));
}

TEST(CheckGuard, SomeActionOfTheGuardedConceptDeclaresTheVariant) {
  EXPECT_THAT(
      told_of("guard G over { Order: { ?o total: ?t } } require { filter(?t > 0) } else empty[ message: \"x\" ]"),
      IsEmpty());
  EXPECT_THAT(
      told_of("guard G over { Order: { ?o total: ?t } } require { filter(?t > 0) } else emty[]"),
      ElementsAre(
          "rules.sync:1:74+4 error guard-variant: no action of `Order` has a variant `emty` [did you mean `empty`?]"));
}

TEST(CheckGuard, ElseSeesWhatWasBoundBeforeRequire) {
  EXPECT_THAT(
      told_of("guard G before { Order/ship: [ order: ?o ] } require { Order: { ?o note: ?n } } else engine.refused[ "
              "message: \"{{n}}\" ]"),
      ElementsAre("rules.sync:1:114+1 error unbound-variable: guard `G`: `?n` in else is not bound by any pattern or "
                  "query [no field of this kit has that name; write a value, or bind it in before or where]"));
}

TEST(CheckGuard, FieldsOfTheVariantAreChecked) {
  EXPECT_THAT(
      told_of("guard G before { Order/ship: [ order: ?o ] } require { Order: { ?o } } else lost[ ordr: ?o ]"),
      ElementsAre(
          "rules.sync:1:83+4 error unknown-field: `Order/ship => lost` has no field `ordr` [did you mean `order`?]"));
}

TEST(CheckGuard, AFieldOfTheRefusalIsGivenOnce) {
  EXPECT_THAT(told_of("guard G before { Order/ship: [ order: ?o ] }\nrequire { Order: { ?o } }\nelse lost[ order: ?o; "
                      "order: ?o ]"),
              ElementsAre("rules.sync:3:23+5 error duplicate: a second field `order` [keep one]"));
}

TEST(CheckGuard, ElseGivesEveryFieldThatIsNoOption) {
  EXPECT_THAT(told_of("guard G before { Order/ship: [ order: ?o ] } require { Order: { ?o } } else lost[]"),
              ElementsAre("rules.sync:1:77+4 error missing-argument: `Order/ship => lost` needs the field `order: O of "
                          "Order` [add `order: ?order`, and bind it before `require`]"));
}

TEST(CheckGuard, ElseSuitsEachActionThatMayBeRefused) {
  std::string two =
      "concept A [P] { state { n: P -> Int } actions { action up(p: P) { -> ok -> full(n: Int) }\naction down(p: P) { "
      "-> "
      "ok -> full(n: String, why: String) } } }";
  EXPECT_THAT(
      told(kit_of({two}, "guard G over { A: { ?p n: ?n } } require { filter(?n > 0) } else full[ n: ?n ]")),
      ElementsAre("rules.sync:1:66+4 error missing-argument: `A/down => full` needs the field `why: String` [add "
                  "`why: ?why`, and bind it before `require`]",
                  "rules.sync:1:75+2 error type-mismatch: `?n` is Int, but `n` of A/down => full takes String "
                  "[give it a value of type String]"));
}

}  // namespace check_guard_test
}  // namespace sluice::lang
