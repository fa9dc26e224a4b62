// What a suite says of concepts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_suite_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CheckSuite, ScopesLeadFromAnArgumentToAField) {
  Kit kit = kit_of({kOrder, kCard}, "");
  kit.scopes = {{{{{3, 3}}, "Order", "order -> Order.note"}, "suite.yaml"}};
  EXPECT_THAT(told(kit), IsEmpty());
  kit.scopes = {{{{{3, 3}}, "Ordr", "order"}, "suite.yaml"},
                {{{{4, 3}}, "Order", "ordre"}, "suite.yaml"},
                {{{{5, 3}}, "Order", "order -> Order.nte"}, "suite.yaml"}};
  EXPECT_THAT(
      told(kit),
      ElementsAre(
          "suite.yaml:3:3+4 error unknown-concept: there is no concept `Ordr` [did you mean `Order`?]",
          "suite.yaml:4:3+5 error unknown-field: no action of `Order` has an argument `ordre` [did you mean `order`?]",
          "suite.yaml:5:3+5 error unknown-field: the scope's `Order.nte` is no field of a row [write "
          "`Concept.field`]"));
}

TEST(CheckSuite, SuiteParametersAreTheConcepts) {
  Kit kit = kit_of({kOrder}, "");
  kit.concepts[0].entry.params = {{{{7, 7}}, "Q", "order-ref", ""}};
  EXPECT_THAT(
      told(kit),
      ElementsAre("suite.yaml:7:7+1 error unknown-parameter: `Order` has no type parameter `Q` [there is `O`]"));
}

TEST(CheckSuite, AScopeLeadsThroughKeys) {
  auto with = [](const std::string& path, bool strict = false) {
    Kit kit = kit_of({"concept R [P] { state { n: P -> Int } actions { action a(p: P, n: Int) { -> ok } } }",
                      "concept B [Q] { state { own: Q -> String } actions { action a(q: Q) { -> ok } } }"},
                     "");
    kit.concepts[0].entry.params = {{{{7, 7}}, "P", "thing-ref", ""}};
    kit.concepts[1].entry.params = {{{{8, 7}}, "Q", "owner-ref", ""}};
    kit.scopes = {{{{{3, 3}}, "R", path}, "suite.yaml"}};
    return told(kit, {.strict = strict});
  };
  EXPECT_THAT(with("p -> R.n"), IsEmpty());
  EXPECT_THAT(
      with("n -> R.n"),
      ElementsAre("suite.yaml:3:3+1 error type-mismatch: `n` of R/a is Int, but the rows of `R.n` are known by P of "
                  "R [lead through a field that holds such a key]"));
  EXPECT_THAT(
      with("p -> R.n -> B.own"),
      ElementsAre("suite.yaml:3:3+1 error type-mismatch: `R.n` is Int, but the rows of `B.own` are known by Q of B "
                  "[lead through a field that holds such a key]"));
  EXPECT_THAT(with("p -> B.own"),
              ElementsAre(testing::HasSubstr("warning alignment: `p` of R/a is P of R, but the rows "
                                             "of `B.own` are known by Q of B")));
  EXPECT_THAT(with("p -> B.own", true), ElementsAre(testing::HasSubstr("error alignment")));
}

TEST(CheckSuite, WhereASuiteListsRightsEachActionNamesOne) {
  auto with = [](const std::string& clauses, bool outside = false) {
    Kit kit =
        kit_of({"concept R [P] { state { n: P -> Int } actions { action a(p: P) { " + clauses + " -> ok } } }"}, "");
    kit.concepts[0].outside = outside;
    kit.rights[kit.concepts[0].suite_file] = {{.text = "view"}, {.text = "deploy"}};
    return told(kit);
  };
  EXPECT_THAT(with("right: deploy effect: shifts"), IsEmpty());
  EXPECT_THAT(with("callers: syncs"), IsEmpty());
  EXPECT_THAT(with(""), ElementsAre("0.concept:1:56+1 error no-right: `a` does not say which right its callers need "
                                    "[write `right: view`, or another of the suite's `rights:`]",
                                    "0.concept:1:56+1 error no-effect: `a` does not say what is at stake when it is "
                                    "called [write `effect: none`, `changes`, `shifts` or `destroys`]"));
  EXPECT_THAT(with("", true),
              ElementsAre(testing::HasSubstr("warning no-right"), testing::HasSubstr("warning no-effect")))
      << "of a pack";
  EXPECT_THAT(with("right: deplyo effect: none"),
              ElementsAre("0.concept:1:66+5 error unknown-right: the suite lists no right `deplyo`, which `a` needs "
                          "[did you mean `deploy`?]"));
  EXPECT_THAT(with("right: view callers: syncs"),
              ElementsAre("0.concept:1:66+5 error syncs-right: only syncs start `a`, so no caller needs a right for it "
                          "[leave `right:` out]"));
  EXPECT_THAT(with("right: view effect: changes runs: query"),
              ElementsAre("0.concept:1:78+6 error query-effect: a query changes nothing: the effect of `a` is none "
                          "[write `effect: none`]"));
}

}  // namespace check_suite_test
}  // namespace sluice::lang
