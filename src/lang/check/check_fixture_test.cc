// Fixtures of actions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_fixture_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CheckFixture, FixturesGiveEveryArgumentItsType) {
  EXPECT_THAT(told_of_thing("fixture second { name: $first.name, size: 2 } after first -> bad", ""), IsEmpty());
  EXPECT_THAT(
      told_of_thing("fixture second { nme: \"b\", size: \"2\" } after frist -> bda", ""),
      ElementsAre("0.concept:9:18+3 error unknown-field: `make` has no argument `nme` [did you mean `name`?]",
                  "0.concept:9:34+3 error type-mismatch: `size` of make is Int, not \"2\" [write a value of type Int]",
                  "0.concept:9:46+5 error unknown-fixture: there is no fixture `frist` [did you mean `first`?]",
                  "0.concept:9:55+3 error unknown-variant: `make` has no variant `bda` [did you mean `bad`?]"));
  EXPECT_THAT(
      told_of_thing("fixture second { size: 2 }", ""),
      ElementsAre("0.concept:9:9+6 error missing-argument: fixture `second` lacks the argument `name` of `make` [add "
                  "`name: …`]"));
  EXPECT_THAT(
      told_of_thing("fixture first { name: \"b\", size: 2 }", ""),
      ElementsAre("0.concept:9:9+5 error duplicate: a second fixture `first` [rename one; the first is at line 8]"));
  EXPECT_THAT(
      told_of_thing("fixture second { name: $first.thng, size: $fist.size } after first", ""),
      ElementsAre("0.concept:9:24+11 error unknown-field: `make -> ok` has no field `thng` [did you mean `thing`?]",
                  "0.concept:9:43+5 error unknown-fixture: there is no fixture `fist` [did you mean `first`?]"));
}

TEST(CheckFixture, AFixtureGivesTheTextOfWhatIsSealed) {
  std::string text =
      "concept A [T] { actions { action open(key: Sealed) { runs: effect -> ok fixture f { key: @ } } } }";
  auto with_key = [&](const std::string& key) {
    std::string given = text;
    given.replace(given.find('@'), 1, key);
    return told(kit_of({given}, ""));
  };
  EXPECT_THAT(with_key("\"hunter2\""), IsEmpty());
  EXPECT_THAT(with_key("2"),
              ElementsAre("0.concept:1:90+1 error type-mismatch: `key` of open is Sealed, not 2 [write a "
                          "value of type Sealed]"));
}

TEST(CheckFixture, FixturesDoNotRunInACircle) {
  EXPECT_THAT(
      told_of_thing("fixture a { name: \"a\", size: 1 } after b\nfixture b { name: \"a\", size: 1 } after a", ""),
      ElementsAre("0.concept:9:40+1 error fixture-circle: fixtures `a` and `b` run after one another, so neither "
                  "does [take out one `after`]"));
  EXPECT_THAT(
      told_of_thing("fixture a { name: \"a\", size: 1 } after a", ""),
      ElementsAre("0.concept:9:40+1 error fixture-circle: fixture `a` runs after itself [take out one `after`]"));
}

TEST(CheckFixture, AFixtureTakesValuesOfThoseBeforeIt) {
  EXPECT_THAT(
      told_of_thing("fixture a { name: $a.name, size: 1 }\nfixture b { name: $first.name, size: 1 }", ""),
      ElementsAre("0.concept:9:19+2 error unknown-fixture: `a` takes a value of itself [write the value]",
                  "0.concept:10:19+6 error unknown-fixture: `first` has not run when `b` does [write `after first` "
                  "behind the fixture]"));
}

}  // namespace check_fixture_test
}  // namespace sluice::lang
