// Values that fixtures and steps give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_value_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CheckValue, WhatAStepGivesHasItsType) {
  EXPECT_THAT(told_of_thing("",
                            "forall \"x\" { given q in {\"a\"} after make(name: \"n\", size: q) -> ok(thing: t)\n then "
                            "get(thing: t.size) -> ok }"),
              ElementsAre("0.concept:13:59+1 error type-mismatch: `q` is \"a\", but `size` of make is Int [give one of "
                          "them another name]",
                          "0.concept:14:18+6 error type-mismatch: `thing` of get is T of A, but this is Int [give it a "
                          "value of type T of A]"));
}

TEST(CheckValue, AScenariosNamedValueHasItsTypeInEverySpelling) {
  auto then = [](const std::string& condition) {
    return told_of_thing("",
                         "scenario {\n fixture box { name: \"n\", size: \"3\" }\n given { make(name: name, size: 1) -> "
                         "ok(thing: t) }\n then { " +
                             condition + " } }");
  };
  EXPECT_THAT(then("name = \"n\" and size = \"3\" and box.size != \"4\" and $box.size in {\"3\"}"), IsEmpty());
  // A name of its own hides the fixture's.
  EXPECT_THAT(then("forall size in {1, 2}: size < 3"), IsEmpty());
  for (const std::string& spelling : {std::string("size"), std::string("box.size"), std::string("$box.size")}) {
    EXPECT_THAT(then(spelling + " = 3"),
                ElementsAre("0.concept:16:" + std::to_string(12 + spelling.size()) +
                            "+1 error type-mismatch: these are never equal: one is String, the other Int [compare "
                            "values of one type]"));
  }
  EXPECT_THAT(then("t.size = box.size"),
              ElementsAre("0.concept:16:18+8 error type-mismatch: these are never equal: one is Int, the other String "
                          "[compare values of one type]"));
}

TEST(CheckValue, AScenariosNamedTextMayBeATime) {
  auto with = [](const std::string& time) {
    return told(
        kit_of({"concept A [T] {\n state { at: T -> DateTime }\n actions { action make(at: DateTime) { -> ok(t: T) "
                "} }\n scenario { fixture f { at: \"" +
                time +
                "\" }\n given { make(at: f.at) -> ok(t: t) }\n then { "
                "t.at = f.at } } }"},
               ""));
  };
  EXPECT_THAT(with("2030-01-31T12:00:00.000Z"), IsEmpty());
  EXPECT_THAT(
      with("soon"),
      ElementsAre("0.concept:4:29+6 error type-mismatch: `at` of make is DateTime, not \"soon\" [write a UTC time "
                  "such as \"2030-01-31T12:00:00.000Z\"]",
                  "0.concept:6:16+4 error type-mismatch: these are never equal: one is DateTime, the other String "
                  "[compare values of one type]"));
}

}  // namespace check_value_test
}  // namespace sluice::lang
