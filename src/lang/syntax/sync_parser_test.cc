// What `.sync` files say and how their faults are told.
#include "lang/syntax/sync_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "lang/syntax/testing_rules.h"

namespace sluice::lang {
namespace sync_parser_test {

using testing::ElementsAre;

TEST(SyncParser, BothSpellingsMeanTheSame) {
  SyncFile seed =
      parsed_rules("sync A [eager] {\n  when { X/do: [ a: ?a ] => ok[ b: ?b ] }\n  then { Y/go: [ b: ?b ] }\n}\n");
  SyncFile plain =
      parsed_rules("sync A [eager]\n  when { X/do: [ a: ?a; ] => [ ok(b: ?b) ] }\n  then { Y/go: [ b: ?b ] }\n");
  EXPECT_EQ(seed, plain);
  EXPECT_EQ(sync_of(seed).when[0].outcome, Pattern::Outcome::variant);
  EXPECT_EQ(sync_of(seed).when[0].variant.text, "ok");
}

TEST(SyncParser, ReadsEveryValueOfAThen) {
  SyncFile file = parsed_rules(R"(sync A
  when { ?c/?a: [] => [] }
  then {
    Y/b: [ v: ?c.name.first; s: "a\n{{x}} of {{y.z}}"; n: null; l: [1, "two"]; k: [a: 1]; r: { a: ?a; b: -2 }
           h: { ?a, ?b }; f: concat(?a, "-", cond(?x, 1, 2)) ]
    answer ?r => failed[ reason: "no" ]
    ?p in {Local, Cloud.K8s}/provision: []
  }
  then { Z/c: [] })");
  const Sync& sync = sync_of(file);
  EXPECT_EQ(sync.when[0].concept_.text, "?c");
  EXPECT_EQ(sync.when[0].action.text, "?a");
  ASSERT_EQ(sync.then.size(), 4u);
  const auto& args = sync.then[0].arguments;
  EXPECT_EQ(args[0].value.op, Expr::Op::path);
  EXPECT_EQ(args[0].value.name, "first");
  EXPECT_EQ(args[1].value.op, Expr::Op::text);
  EXPECT_THAT(args[1].value.parts, ElementsAre("a\n", " of ", ""));
  EXPECT_EQ(args[1].value.args[1].name, "z");
  EXPECT_TRUE(args[2].value.value.is_null());
  EXPECT_EQ(args[3].value.args.size(), 2u);
  EXPECT_EQ(args[4].value.op, Expr::Op::record);
  EXPECT_EQ(args[5].value.args[1].value, json::value(-2));
  EXPECT_THAT(args[6].value.keys, ElementsAre("a", "b"));
  EXPECT_EQ(args[7].value.args[2].name, "cond");
  EXPECT_EQ(sync.then[1].kind, Effect::Kind::answer);
  EXPECT_EQ(sync.then[1].request->text, "r");
  EXPECT_EQ(sync.then[2].candidates[1].text, "Cloud.K8s");
  EXPECT_EQ(sync.then[3].concept_.text, "Z");
}

TEST(SyncParser, ReadsGuards) {
  SyncFile file = parsed_rules(R"(guard OnlyReady
  purpose: "Traffic goes where it is served."
  over    { Traffic.entries: { ?d revision: ?v } }            # whatever would write
  require { Revision: { ?v deployment: ?d; lifecycle: "ready" } }
  else notReady[ revision: ?v; message: "{{v}} is not ready" ]
guard Stays
  before { Traffic/set: [ deployment: ?d; entries: ?es ] }
  where { each(?es as { revision: ?v }) }
  require { no Traffic.entries: { revision: ?v } filter(?d != "x") }
  else engine.refused[ message: "no" ]
)");
  const Guard& over = guard_of(file);
  EXPECT_EQ(over.over->relation->text, "entries");
  EXPECT_FALSE(over.before);
  EXPECT_EQ(over.variant.text, "notReady");
  EXPECT_EQ(over.purpose, "Traffic goes where it is served.");
  const Guard& before = guard_of(file, 1);
  EXPECT_EQ(before.before->action.text, "set");
  EXPECT_TRUE(before.engine);
  EXPECT_EQ(before.require.size(), 2u);
  ASSERT_EQ(file.comments.size(), 1u);
  EXPECT_EQ(file.comments[0].text, "whatever would write");
  EXPECT_FALSE(file.comments[0].own_line);
}

TEST(SyncParser, ReadsAnnotations) {
  SyncFile file = parsed_rules("sync A [eventual retry(down, busy)] [loop] when { X/a: [] => ok } then { Y/b: [] }");
  const Sync& sync = sync_of(file);
  EXPECT_TRUE(sync.eventual);
  EXPECT_TRUE(sync.loop);
  EXPECT_EQ(sync.retry_variants.size(), 2u);
}

TEST(SyncParser, PurposeHasTwoForms) {
  SyncFile text = parsed_rules("sync A purpose: \"It's so.\" when { X/a: [] => ok } then { Y/b: [] }");
  SyncFile prose = parsed_rules("sync A purpose {\n  It's\n  so. } when { X/a: [] => ok } then { Y/b: [] }");
  EXPECT_EQ(text, prose);
}

TEST(SyncParser, ShowsSeveralFaultsInOneRun) {
  EXPECT_THAT(faults_of_rules("sync A [eagre]\n  when { X/a: [] => ok }\n  then { Y/b: [] }\n"
                              "sync B\n  when { X/a [] => ok }\n  then { Y/b: [] }\n"
                              "sync C\n  when { X/a: [] => ok }\n  then { Y/b: [ a: b ] }\n"
                              "guard D\n  before { X/a: [] }\n  else no[]\n"),
              ElementsAre("1:9 unknown annotation `eagre` | write `eager`",
                          "5:14 expected `:` after the action's name, found `[` | write `:`",
                          "9:20 `b` is not a value | write `?b` for a variable or \"b\" for text",
                          "12:3 expected `require` after `before`, `over` or `where`, found `else` | write `require`"));
}

TEST(SyncParser, RefusesWhatTheLanguageDoesNotSay) {
  auto in_when = [](const std::string& text) {
    return faults_of_rules("sync A\nwhen { " + text + " }\nthen { Y/b: [] }");
  };
  auto in_then = [](const std::string& text) {
    return faults_of_rules("sync A\nwhen { X/a: [] => ok }\nthen { " + text + " }");
  };
  auto in_where = [](const std::string& text) {
    return faults_of_rules("sync A\nwhen { X/a: [] => ok }\nwhere { " + text + " }\nthen { Y/b: [] }");
  };
  EXPECT_THAT(in_when(""), ElementsAre("2:9 expected a pattern, found `}` | write a pattern"));
  EXPECT_THAT(in_when("caused by X/a: [] => ok"),
              ElementsAre("2:18 expected a plain pattern first, found `X` | `caused by` and `latest` speak of the "
                          "pattern above them"));
  EXPECT_THAT(in_when("X/a: [ l: [1] ] => ok"), ElementsAre("2:18 expected a variable, a literal, `_` or `{ … }`, "
                                                            "found `[` | write a variable, a literal, `_` or `{ … }`"));
  EXPECT_THAT(in_when("X/a: [ l: ?x.y ] => ok"),
              ElementsAre("2:18 a pattern matches a variable, a literal, `_` or `{ … }` | bind a variable here and "
                          "compare it with filter(…) in `where`"));
  EXPECT_THAT(in_when("X/a: [] -> ok"),
              ElementsAre("2:16 expected `=>` after the action's arguments, found `->` | write `=>`"));
  EXPECT_THAT(in_then("?p/go: []"),
              ElementsAre("3:8 a variable as the target needs its candidates | write `?p in {A, B}/action: [ … ]`"));
  EXPECT_THAT(in_then("Y/b: [] => ok"),
              ElementsAre("3:16 expected the next action or `}`, found `=>` | an action in `then` has no outcome"));
  EXPECT_THAT(in_where("filter(?a == 1)"), ElementsAre("3:19 unexpected `==` | write `=` to compare"));
  EXPECT_THAT(in_where("check(?a)"),
              ElementsAre("3:9 unknown condition `check(…)` | conditions are filter(…), guard(…), any(…), bind(… as "
                          "?x), each(… as { … }) and queries"));
  EXPECT_THAT(faults_of_rules("sync A [eager, eventual] when { X/a: [] => ok } then { Y/b: [] }"),
              ElementsAre("1:6 sync `A` is both eager and eventual | keep one"));
  EXPECT_THAT(faults_of_rules("sync A [retry(x)] when { X/a: [] => ok } then { Y/b: [] }"),
              ElementsAre("1:6 `retry(…)` without `eventual` | write `[eventual retry(…)]`"));
  EXPECT_THAT(faults_of_rules("guard A before { X/a: [] => ok } require { filter(?a = 1) } else no[]"),
              ElementsAre("1:26 expected `}`, found `=>` | a guard runs before its action, which has no outcome yet"));
  EXPECT_THAT(faults_of_rules("guard A over { X: {} } require { bind(uuid() as ?x) } else no[]"),
              ElementsAre("1:34 `bind` selects; `require` only says what must hold | write it in `where`"));
  EXPECT_THAT(faults_of_rules("guard A over { X: {} } require { X: {} } else engine.fault[]"),
              ElementsAre("1:54 a guard cannot end an action in `engine.fault` | write `engine.refused[ message: "
                          "\"…\" ]` or a declared variant"));
  EXPECT_THAT(faults_of_rules("what\n}\nsync A when { X/a: [] => ok } then { Y/b: [] } more"),
              ElementsAre("1:1 expected `sync` or `guard`, found `what` | write `sync` or `guard`",
                          "3:48 expected the next rule or the end of the file, found `more` | the sync ends before "
                          "this"));
}

TEST(SyncParser, AnnotationsWithoutEffectAreWarnedAbout) {
  Diagnostics found;
  std::string_view text = "sync A [eager idempotent] when { X/a: [] => ok } then { Y/b: [] }";
  ASSERT_TRUE(parse_sync(text, "x.sync", found));
  ASSERT_EQ(found.all().size(), 1u);
  EXPECT_EQ(found.all()[0].severity, Diagnostic::Severity::warning);
  EXPECT_EQ(found.all()[0].text, "`idempotent` has no effect");
}

TEST(SyncParser, WhatIsNotClosedIsAnError) {
  std::string_view whole =
      "sync A [eager] {\n when { X/a: [ a: \"x\" ] => ok[ b: ?b ] }\n where { filter(?b = 1) }\n"
      " then { Y/b: [ l: [1, { k: 2 }] ] }\n}";
  ASSERT_TRUE(faults_of_rules(whole).empty());
  for (size_t size = 5; size + 1 < whole.size(); ++size) {
    EXPECT_FALSE(faults_of_rules(whole.substr(0, size)).empty()) << whole.substr(0, size);
  }
}

TEST(SyncParser, BadBytesAndBombsAreRefused) {
  EXPECT_THAT(faults_of_rules("sync " + std::string(1 << 20, 'a')),
              ElementsAre("1:6 a name of 1048576 characters; names may have 256 | choose a shorter name"));
  std::string deep = "sync A when { X/a: [] => ok } then { Y/b: [ a: ";
  for (int i = 0; i < 10'000; ++i) deep += "{ a: ";
  EXPECT_THAT(faults_of_rules(deep), ElementsAre(testing::HasSubstr("nested more than 100 deep")));
  std::string nested = "sync A when { X/a: [ a: ";
  for (int i = 0; i < 10'000; ++i) nested += "{ a: ";
  EXPECT_THAT(faults_of_rules(nested), ElementsAre(testing::HasSubstr("nested more than 100 deep")));
  EXPECT_THAT(faults_of_rules("sync A\n# \xE2\x80\xAE\n"),
              ElementsAre("2:3 U+202E changes the direction of text and can hide code | remove it, or write it as an "
                          "escape in a string"));
  EXPECT_EQ(faults_of_rules(std::string(50 << 20, 'x')).size(), 1u);
}

TEST(SyncParser, TabsAndCrLfAreBlanks) {
  EXPECT_EQ(parsed_rules("sync A\r\n\twhen { X/a: [] => ok }\r\n\tthen { Y/b: [] }\r\n"),
            parsed_rules("sync A when { X/a: [] => ok } then { Y/b: [] }"));
}

TEST(SyncParser, KeepsTheRulesThatAreWhole) {
  std::string text =
      "sync A when { X/a: [] => ok[] } then { ?p/go: [] }\n"
      "sync B when { X/a: [] => ok[] } then { Y/b: [] }\n"
      "guard C before { X/a: [] } else ok[]\n"
      "guard D before { X/a: [] } require { X: { ?x } } else ok[]\n";
  Diagnostics found;
  SyncFile file = parse_whole_rules(text, "x.sync", found);
  EXPECT_EQ(found.errors(), 2u);
  ASSERT_EQ(file.rules.size(), 2u);
  EXPECT_EQ(std::get<Sync>(file.rules[0]).name.text, "B");
  EXPECT_EQ(std::get<Guard>(file.rules[1]).name.text, "D");
  EXPECT_FALSE(parse_sync(text, "x.sync", found));
}

TEST(SyncParser, ThereIsNoArithmetic) {
  EXPECT_THAT(
      faults_of_rules("sync A when { B/c: [] => ok[ n: ?n ] }\nthen { B/c: [ n: ?n + 1 ] }"),
      ElementsAre("2:21 unexpected `+` | there is no arithmetic: a concept keeps its own totals and returns them"));
}

TEST(SyncParser, ABraceThatIsLeftOfARuleWithErrorsIsNotToldAgain) {
  EXPECT_THAT(
      faults_of_rules(
          "sync S when { A/a: [] => ok[] } then  A/b: [] }\nsync T when { A/a: [] => ok[] } then { A/b: [] }\n"),
      testing::SizeIs(1));
  EXPECT_THAT(
      faults_of_rules(
          "sync S when { A/a: [] => ok[] } then { A/b: [] } }\nsync T when { A/a: [] => ok[] } then { A/b: [] }\n"),
      testing::SizeIs(1));
}

}  // namespace sync_parser_test
}  // namespace sluice::lang
