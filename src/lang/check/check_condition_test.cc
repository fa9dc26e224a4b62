// Conditions of invariants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_condition_test {

using testing::ElementsAre;
using testing::IsEmpty;

// A parcel with a status, criteria, a count and tags; `total` is of the whole.
std::vector<std::string> with(const std::string& invariant) {
  return told(
      kit_of({"concept C [P] {\n  state { cs: set P  status: P -> \"open\" | \"lost\"  n: P -> Int\n crit: P -> { "
              "maxError: Float }  tags: P -> list String  total: Int }\n  actions { action make(n: Int) { -> "
              "ok(p: P) -> bad }\n  action drop(p: P) { -> ok } }\n" +
              invariant + "\n}"},
             ""));
}

TEST(CheckCondition, NamesAreThoseOfTheState) {
  EXPECT_THAT(with("never \"a\" { exists p in cs: p.status = \"lost\" and p.crit.maxError > 1.0 and \"x\" in p.tags }\n"
                   "always \"b\" { 0 <= total and count(cs) >= count(tags) and now() > \"2020-01-01T00:00:00.000Z\" }\n"
                   "always \"c\" { forall p in cs: status(p) != \"lost\" or p.n = null }\n"
                   "always \"d\" { forall s in status: s in [\"open\", \"lost\"] }"),
              IsEmpty());
}

TEST(CheckCondition, AFieldThatThereIsNotIsToldOf) {
  EXPECT_THAT(
      with("never \"a\" { exists p in cs: p.m > 0 }\nnever \"b\" { exists p in cs: p.crit.maxEror = 1.0 }\nalways "
           "\"c\" { "
           "foo(3) = 1 }"),
      ElementsAre(
          "0.concept:6:31+1 error unknown-field: `p` is P of C, without a field `m` [there is `status`, `n`, "
          "`crit` and `tags`]",
          "0.concept:7:36+7 error unknown-field: this is { maxError: Float }, without a field `maxEror` [did you "
          "mean `maxError`?]",
          "0.concept:8:14+3 error unknown-function: there is no function and no field `foo` [there is `count`, "
          "`now`, `concat`, `cs`, `status`, `n`, `crit`, `tags` and 1 more]"));
}

TEST(CheckCondition, OnlyWhatCanBeEqualIsCompared) {
  std::string hint = " [compare values of one type]";
  EXPECT_THAT(
      with("never \"a\" { exists p in cs: p.status = \"losst\" }\nalways \"b\" { forall p in cs: p.n > \"a\" }\n"
           "eventually \"c\" { 1 = count(n) and \"x\" = count(n) }\nalways \"d\" { now() > 5 }\nalways \"e\" { cs < cs "
           "}"),
      ElementsAre(
          "0.concept:6:40+7 error type-mismatch: these are never equal: one is \"open\" | \"lost\", the other "
          "\"losst\" [did you mean \"lost\"?]",
          "0.concept:7:36+3 error type-mismatch: these have no order: one is Int, the other String" + hint,
          "0.concept:8:41+1 error type-mismatch: these are never equal: one is String, the other Int" + hint,
          "0.concept:9:22+1 error type-mismatch: these have no order: one is DateTime, the other Int" + hint,
          "0.concept:10:19+2 error type-mismatch: values of type list P of C have no order [compare with `=` or "
          "`!=`]"));
}

TEST(CheckCondition, OnlyListsAreCountedAndGoneThrough) {
  std::string hint = " [name a list, or a set of the state]";
  EXPECT_THAT(
      with("always \"a\" { forall p in cs: p in 3 }\nalways \"b\" { 1 = count(5) }\nalways \"c\" { forall x in "
           "total: x = 1 }"),
      ElementsAre("0.concept:6:35+1 error type-mismatch: `in` needs a list or a set, but 3 is Int" + hint,
                  "0.concept:7:24+1 error type-mismatch: count needs a list or a set, but 5 is Int" + hint,
                  "0.concept:8:26+5 error type-mismatch: forall needs a list or a set, but `total` is Int" + hint));
}

TEST(CheckCondition, ATextOfNoUnionIsShownWithTheNearest) {
  EXPECT_THAT(with("never \"a\" { exists p in cs: \"opne\" = p.status }\nnever \"b\" { exists p in cs: p.status in "
                   "[\"open\", \"elsewhere\"] }"),
              ElementsAre("0.concept:6:38+8 error type-mismatch: these are never equal: one is \"opne\", the other "
                          "\"open\" | \"lost\" [did you mean \"open\"?]",
                          "0.concept:7:50+11 error type-mismatch: these are never equal: one is \"open\" | \"lost\", "
                          "the other \"elsewhere\" [write a value of type \"open\" | \"lost\"]"));
}

TEST(CheckCondition, ConcatTakesAllThatMayBeShown) {
  EXPECT_THAT(with("always \"a\" { forall p in cs: concat(p.tags, p.n, p) != \"x\" }"), IsEmpty());
  EXPECT_THAT(told(kit_of({"concept C [P] { state { cs: set P  key: P -> Sealed } actions { action a() { -> ok } }\n"
                           "always { forall p in cs: concat(p.key) != \"x\" } }"},
                          "")),
              ElementsAre("0.concept:2:33+5 error sealed: this is Sealed: what is made of it would show it [leave it "
                          "out]"));
}

TEST(CheckCondition, AConditionIsTrueOrFalse) {
  EXPECT_THAT(with("always \"a\" { n }"),
              ElementsAre("0.concept:6:14+1 error type-mismatch: a condition is true or false, but `n` is list Int "
                          "[compare it with a value: `… = …`]"));
}

}  // namespace check_condition_test
}  // namespace sluice::lang
