// What a suite says of concepts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/testing_kit.h"

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

}  // namespace check_suite_test
}  // namespace sluice::lang
