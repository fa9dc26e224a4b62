// Next steps name what can be called, with arguments that it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_next_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> told_of_guard(const std::string& next) {
  return told(kit_of({kOrder, kCard},
                     "guard G before { Order/ship: [ order: ?o ] } require { Order: { ?o status: \"paid\" } }\n"
                     "else lost[ order: ?o ] next: " +
                         next));
}

std::vector<std::string> told_of_variant(const std::string& next) {
  return told(kit_of({"concept A [T] { actions { action make(name: String, size: option Int) { -> ok(thing: T)\n"
                      "-> bad(why: String) next: " +
                      next +
                      " }\naction fix(thing: String, size: option Int) { -> ok }\naction own() { callers: syncs "
                      "-> ok } } }"},
                     ""));
}

TEST(CheckNext, OfAGuard) {
  EXPECT_THAT(told_of_guard("Order/pay [ order: ?o ] if ?o != \"x\"  next: view \"orders/open\" [ order: ?o ]  next: "
                            "\"pay {{o}}\""),
              IsEmpty());
  EXPECT_THAT(told_of_guard("Order/pya [ order: ?o ]"),
              ElementsAre("rules.sync:2:36+3 error unknown-action: `Order` has no action `pya` [did you mean `pay`?]"));
  EXPECT_THAT(
      told_of_guard("Order/pay [ order: 7; amount: \"much\" ]"),
      ElementsAre(
          "rules.sync:2:49+1 error type-mismatch: `order` of Order/pay takes O of Order, not 7 [write a value of type "
          "O of Order]",
          "rules.sync:2:60+6 error type-mismatch: `amount` of Order/pay takes Int, not \"much\" [write a value of type "
          "Int]"));
  EXPECT_THAT(told_of_guard("view \"Orders\""),
              ElementsAre("rules.sync:2:35+8 error bad-next: \"Orders\" is no name of a view [write words of small "
                          "letters, such as \"environments\"]"));
}

TEST(CheckNext, OfAVariant) {
  EXPECT_THAT(told_of_variant("A/fix [ thing: name; size: size ] if why = \"small\"\nnext: \"{{why}} of {{name}}\""),
              IsEmpty());
  EXPECT_THAT(
      told_of_variant("A/fix [ thing: nmae ]"),
      ElementsAre("0.concept:2:42+4 error unknown-field: `nmae` is no field of `A/make => bad`, nor an argument "
                  "of `A/make` [did you mean `name`?]"));
  EXPECT_THAT(told_of_variant("A/own"),
              ElementsAre("0.concept:2:29+3 error bad-next: `A/own` is called by syncs alone, so nobody can do it next "
                          "[name an action that can be called, a view, or write a sentence]"));
  EXPECT_THAT(told_of_variant("Card/hold"),
              ElementsAre("0.concept:2:27+4 error unknown-concept: there is no concept `Card` [there is `A`, `Timer` "
                          "and `Flow`]"));
}

}  // namespace check_next_test
}  // namespace sluice::lang
