// What patterns say.
#include "lang/syntax/pattern_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "lang/syntax/testing_rules.h"

namespace sluice::lang {
namespace pattern_parser_test {

TEST(PatternParser, ReadsEverySpellingOfAnOutcome) {
  SyncFile file = parsed_rules(R"(sync A
  when {
    X/a: [] => ok[ b: ?b ]
    X/a: [] => ok(b: ?b)
    X/a: [] => [ok; b: ?b]
    X/a: [] => [ok]
    X/a: [] => ok
    X/a: [] => [ b: ?b ]
    X/a: [] => requested as ?r
    X/a: [] => engine.fault[ message: ?m ]
  }
  then { Y/b: [] })");
  const auto& when = sync_of(file).when;
  ASSERT_EQ(when.size(), 8u);
  EXPECT_EQ(when[0], when[1]);
  EXPECT_EQ(when[0], when[2]);
  EXPECT_EQ(when[3], when[4]);
  EXPECT_EQ(when[4].variant.text, "ok");
  EXPECT_EQ(when[5].outcome, Pattern::Outcome::any);
  EXPECT_EQ(when[6].outcome, Pattern::Outcome::requested);
  EXPECT_EQ(when[6].as->text, "r");
  EXPECT_EQ(when[7].outcome, Pattern::Outcome::engine);
  EXPECT_EQ(when[7].variant.text, "fault");
}

TEST(PatternParser, KeepsNumbersTheirSignAndKind) {
  SyncFile file = parsed_rules("sync A when { X/a: [ n: -5; f: -0.5; i: 5 ] => ok } then { Y/b: [] }");
  const auto& input = sync_of(file).when[0].input;
  EXPECT_EQ(input[0].match.value, json::value(-5));
  EXPECT_EQ(input[1].match.value, json::value(-0.5));
  EXPECT_TRUE(input[2].match.value.is_int64());
}

}  // namespace pattern_parser_test
}  // namespace sluice::lang
