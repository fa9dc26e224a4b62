// Lines of a where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_query_test {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kRows =
    "concept A [P] { state { r: P -> { x: Int, y: option String, z: option { q: Int } } }\nactions { action go(n: Int) "
    "{ -> ok(p: P, n: Int, b: Bool) }\naction str(s: String) { -> ok }\naction opt(o: option String) { -> ok } } }";

std::vector<std::string> with(const std::string& where, const std::string& then = "A/go: [ n: 1 ]") {
  return told(kit_of({kRows}, "sync S when { A/go: [] => ok[ p: ?p; n: ?n; b: ?b ] }\nwhere { A: { ?p r: ?r } " +
                                  where + " }\nthen { " + then + " }"));
}

TEST(CheckQuery, WhatIsBoundKeepsItsOption) {
  std::string not_there = " [name it with `bind(… as ?x)` and keep it with `filter(?x != null)` in where]";
  EXPECT_THAT(with("bind(?r.y as ?y)", "A/opt: [ o: ?y ]"), IsEmpty());
  EXPECT_THAT(
      with("bind(?r.y as ?y)", "A/str: [ s: ?y ]"),
      ElementsAre("rules.sync:3:20+2 error type-mismatch: `?y` is option String, but `s` of A/str takes String" +
                  not_there));
  EXPECT_THAT(
      with("", "A/go: [ n: ?r.z.q ]"),
      ElementsAre("rules.sync:3:19+1 error type-mismatch: this is option Int, but `n` of A/go takes Int" + not_there));
  EXPECT_THAT(
      with("bind(cond(?b, null, ?n) as ?x)", "A/go: [ n: ?x ]"),
      ElementsAre("rules.sync:3:19+2 error type-mismatch: `?x` is option Int, but `n` of A/go takes Int" + not_there));
}

TEST(CheckQuery, AFilterThatLeavesOutNullMakesItAValue) {
  EXPECT_THAT(with("bind(?r.y as ?y) filter(?y != null)", "A/str: [ s: ?y ]"), IsEmpty());
  EXPECT_THAT(with("bind(?r.z.q as ?q) filter(?n > 1 and null != ?q)", "A/go: [ n: ?q ]"), IsEmpty());
  EXPECT_THAT(with("bind(?r.y as ?y) filter(?y = null)", "A/str: [ s: ?y ]"), testing::SizeIs(1));
}

TEST(CheckQuery, WhatMayBeMissingIsComparedWithNull) {
  EXPECT_THAT(with("filter(?r.y = null)"), IsEmpty());
  EXPECT_THAT(with("filter(?n = null)"),
              ElementsAre("rules.sync:2:37+4 error type-mismatch: these are never equal: `?n` is Int, null is null "
                          "[leave it out: what a pattern or a query has bound is there]"));
}

TEST(CheckQuery, EachGoesThroughTheElementsOfAList) {
  EXPECT_THAT(with("each([1, 2] as { value: ?x })", "A/go: [ n: ?x ]"), IsEmpty());
  EXPECT_THAT(with("each([1, 2] as { value: ?x })", "A/str: [ s: ?x ]"),
              ElementsAre("rules.sync:3:20+2 error type-mismatch: `?x` is Int, but `s` of A/str takes String [give it "
                          "a value of type String]"));
  EXPECT_THAT(with("each([\"a\"] as { foo: ?x })"),
              ElementsAre("rules.sync:2:41+3 error unknown-field: an element is \"a\", without a field `foo` [the "
                          "element itself is `value`]"));
}

TEST(CheckQuery, AVariableOfANoQueryIsOfOneType) {
  const std::string rows =
      "concept A [P] { state { n: P -> Int\nm: P -> Int } actions { action go(n: Int) { -> ok } } }";
  auto with_no = [&](const std::string& query) {
    return told(
        kit_of({rows}, "sync S when { A/go: [] => ok[] }\nwhere { no A: { " + query + " } }\nthen { A/go: [ n: 1 ] }"));
  };
  EXPECT_THAT(with_no("n: ?x; m: ?x"), IsEmpty());
  EXPECT_THAT(with_no("?x n: ?x"), ElementsAre("rules.sync:2:23+2 error type-mismatch: `?x` is P of A, but `n` of A is "
                                               "Int: they are never equal [give one of them another name]"));
}

}  // namespace check_query_test
}  // namespace sluice::lang
