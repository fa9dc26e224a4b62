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

TEST(PatternParser, ReadsAlternatives) {
  SyncFile file = parsed_rules(R"(sync A
  when {
    X/{a, b}: [ n: ?n ] => {ok, partial}[ g: ?g ]
    caused by X/{ c
      d }: [] => requested
    X/{a}: [] => engine.{fault, timeout}[]
  }
  then { Y/b: [] }
guard G before { X/{a, b}: [] } require { filter(1 = 1) } else no[])");
  const auto& when = sync_of(file).when;
  EXPECT_EQ(when[0].action_text(), "{a, b}");
  EXPECT_EQ(when[0].variant_text(), "{ok, partial}");
  EXPECT_EQ(when[0].output[0].field, "g");
  EXPECT_EQ(when[1].action_text(), "{c, d}");
  EXPECT_EQ(when[2].action_text(), "a");
  EXPECT_TRUE(when[2].other_actions.empty());
  EXPECT_EQ(when[2].outcome, Pattern::Outcome::engine);
  EXPECT_EQ(when[2].variant_text(), "{fault, timeout}");
  EXPECT_EQ(guard_of(file, 1).before->action_text(), "{a, b}");
  EXPECT_THAT(faults_of_rules("sync A when { X/{}: [] => ok } then { Y/b: [] }"),
              testing::ElementsAre("1:18 expected an action's name, found `}` | write an action's name"));
}

TEST(PatternParser, ReadsVariablesThatMayBeNothing) {
  SyncFile file = parsed_rules(
      "sync A when { X/a: [ s: ?s?; r: { t: ?t? } ] => ok } where { X: { ?x note: ?n? } } then { Y/b: [ s: ?s ] }");
  const Sync& sync = sync_of(file);
  EXPECT_TRUE(sync.when[0].input[0].match.maybe);
  EXPECT_EQ(sync.when[0].input[0].match.name, "s");
  EXPECT_TRUE(sync.when[0].input[1].match.args[0].maybe);
  EXPECT_TRUE(sync.where[0].query.fields[0].match.maybe);
  EXPECT_THAT(faults_of_rules("sync A when { X/a: [ s: ?s ? ] => ok } then { Y/b: [] }"), testing::SizeIs(1));
  EXPECT_THAT(faults_of_rules("sync A when { X/a: [ s: ?s ] => ok } then { Y/b: [ s: ?s? ] }"), testing::SizeIs(1));
}

}  // namespace pattern_parser_test
}  // namespace sluice::lang
