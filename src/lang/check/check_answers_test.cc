// Requests that nothing answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_answers_test {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kNested =
    "concept B [Q] { actions {\naction ask(n: Int) { runs: answered -> ok(v: Int) }\naction mid(n: Int) { runs: "
    "answered "
    "-> ok(v: Int) }\naction eff(n: Int) { runs: effect -> ok(v: Int) } } }";

const std::string kBegin =
    "sync A when { B/ask: [ n: ?n ] => requested } then { B/mid: [ n: ?n ] }\n"
    "sync M when { B/mid: [ n: ?n ] => requested } then { B/eff: [ n: ?n ] }\n"
    "sync D when { B/eff: [] => ok[ v: ?v ]  caused by B/mid: [] => requested as ?m";

TEST(CheckAnswers, AnOuterRequestMayBeAnsweredFromBeneathAnInnerOne) {
  EXPECT_THAT(told_of_flow(kit_of({kNested},
                                  kBegin + "  caused by B/ask: [] => requested as ?a } then { answer ?m => ok[ v: ?v ] "
                                           " answer ?a => ok[ v: ?v ] }")),
              IsEmpty());
  EXPECT_THAT(
      told_of_flow(kit_of({kNested}, kBegin + " } then { answer ?m => ok[ v: ?v ] }")),
      ElementsAre("rules.sync:1:54+5 warning no-answer: `B/ask` is never answered after `B/mid` => `ok` [write a "
                  "sync: `when { B/mid: [] => …  caused by B/ask: [] => requested as ?ask } then { answer ?ask "
                  "=> … }`]"));
}

TEST(CheckAnswers, AnEventualSyncKeepsNoRequestOpen) {
  const std::string done = "sync D when { B/eff: [] => ok[ v: ?v ]  caused by B/ask: [] => requested as ?a } then { ";
  const std::string answer = done + "answer ?a => ok[ v: ?v ] }\n";
  EXPECT_THAT(
      told_of_flow(kit_of(
          {kNested}, "sync A [eventual] when { B/ask: [ n: ?n ] => requested } then { B/eff: [ n: ?n ] }\n" + answer)),
      testing::Contains(
          testing::HasSubstr("only [eventual] syncs match `B/ask: [] => requested`: every request ends in "
                             "engine.unanswered [make the sync that does its work [eager]]")));
  const std::string begin = "sync A when { B/ask: [ n: ?n ] => requested } then { B/eff: [ n: ?n ] }\n";
  const std::string later = "sync L [eventual] when { B/eff: [ n: ?n ] => ok[] } then { B/eff: [ n: ?n ] }\n";
  EXPECT_THAT(told_of_flow(kit_of({kNested}, begin + answer + later)),
              testing::Not(testing::Contains(testing::HasSubstr("`B/ask`"))));
  EXPECT_THAT(told_of_flow(kit_of({kNested}, begin + later)),
              testing::Contains(testing::HasSubstr("`B/ask` is never answered after `B/eff` => `ok`")));
}

TEST(CheckAnswers, APatternThatLeavesItsActionOpenMayAnswer) {
  EXPECT_THAT(told_of_flow(kit_of({kNested},
                                  "sync A when { B/?a: [ n: _ ] => requested as ?r } then { answer ?r => "
                                  "ok[ v: 1 ] }")),
              IsEmpty());
}

TEST(CheckAnswers, WhatSeveralRequestsLackIsToldOnce) {
  EXPECT_THAT(
      told_of_flow(kit_of({kNested},
                          "sync A when { B/ask: [ n: ?n ] => requested } then { B/eff: [ n: ?n ] }\n"
                          "sync M when { B/mid: [ n: ?n ] => requested } then { B/eff: [ n: ?n ] }")),
      ElementsAre("rules.sync:1:54+5 warning no-answer: `B/ask` and one other are never answered after `B/eff` => "
                  "`ok` [write a sync: `when { B/eff: [] => …  caused by B/ask: [] => requested as ?ask } then { "
                  "answer ?ask => … }`]"));
}

// Two requests, and three actions of one argument each for what is done beneath them.
const std::string kAsked =
    "concept R { actions {\naction run(n: Int, kind: String) { runs: answered -> ok }\n"
    "action other(n: Int) { runs: answered -> ok } } }";
const std::string kDone =
    "concept A { actions {\naction a(n: Int) { runs: effect -> ok(n: Int) -> failed }\n"
    "action b(n: Int) { runs: effect -> ok(n: Int) }\naction c(n: Int) { runs: effect -> ok(n: Int) } } }";

std::vector<std::string> answers_of(const std::string& rules) {
  std::vector<std::string> lines;
  for (const Diagnostic& each : check(kit_of({kAsked, kDone}, rules)).diagnostics) {
    bool other = each.text.find("`R/other: [] => requested`") != std::string::npos;  // which few kits begin
    if ((each.rule == "no-answer" && !other) || each.severity == Diagnostic::Severity::error) {
      lines.push_back(std::to_string(each.mark.line) + " " + each.text);
    }
  }
  return lines;
}

const std::string kRun = "sync S when { R/run: [ n: ?n ] => requested } then { A/a: [ n: ?n ] }\n";
const std::string kFailed =
    "sync F when { A/a: [] => failed[]  caused by R/run: [] => requested as ?r } then { answer ?r => ok[] }\n";

TEST(CheckAnswers, AStepAndAPatternWithOtherLiteralsDoNotMeet) {
  auto with = [](const std::string& name) {
    return answers_of(
        "sync S when { R/run: [ n: ?n ] => requested } then { Timer/wait: [ name: \"soak\"; seconds: ?n ] }\n"
        "sync D when { Timer/wait: [ name: \"" +
        name + "\" ] => ok[]  caused by R/run: [] => requested as ?r } then { answer ?r => ok[] }");
  };
  EXPECT_THAT(with("soak"), IsEmpty());
  EXPECT_THAT(with("soaked"),
              ElementsAre("1 `R/run` is never answered after `Timer/wait: [ name: \"soak\" ]` => `ok`"));
}

TEST(CheckAnswers, WhatTheSyncThatBeginsARequestKnowsOfItHoldsBeneathIt) {
  auto with = [](const std::string& begun, const std::string& caused) {
    return answers_of("sync S when { R/run: [ n: ?n" + begun +
                      " ] => requested } then { A/b: [ n: ?n ] }\nsync D when { A/b: [] => ok[]  caused by R/run: [ " +
                      caused + " ] => requested as ?r } then { answer ?r => ok[] }");
  };
  EXPECT_THAT(with("; kind: \"x\"", "kind: \"x\""), IsEmpty());
  EXPECT_THAT(with("", "kind: \"y\""), IsEmpty());
  EXPECT_THAT(with("; kind: \"x\"", "kind: \"y\""), ElementsAre("1 `R/run` is never answered after `A/b` => `ok`"));
}

TEST(CheckAnswers, ARequestWithLiteralsForWhichNobodyWaitsIsTold) {
  auto with = [](const std::string& kind) {
    return answers_of(
        "sync S when { R/run: [ n: ?n; kind: \"x\" ] => requested as ?r } then { answer ?r => ok[] }\n"
        "sync T when { A/a: [ n: ?n ] => ok[] } then { R/run: [ n: ?n; kind: \"" +
        kind + "\" ] }");
  };
  EXPECT_THAT(with("x"), IsEmpty());
  EXPECT_THAT(with("y"),
              ElementsAre("2 no active sync matches `R/run: [ kind: \"y\" ] => requested`: this request ends in "
                          "engine.unanswered"));
}

TEST(CheckAnswers, ASyncForAnotherRequestDoesNotLeadOn) {
  const std::string through =
      "sync M when { A/a: [ n: ?n ] => ok[]  caused by R/other: [] => requested } then { A/b: [ n: ?n ] }\n";
  const std::string done =
      "sync D when { A/b: [] => ok[]  caused by R/run: [] => requested as ?r } then { answer ?r => ok[] }\n";
  const std::string other = "sync O when { R/other: [ n: ?n ] => requested } then { A/a: [ n: ?n ] }\n";
  EXPECT_THAT(answers_of(kRun + kFailed + through + done + other),
              testing::Contains("1 `R/run` is never answered after `A/a` => `ok`"));
  // It does if each sync that starts the request does so beneath that other one.
  const std::string above =
      "sync O when { R/other: [ n: ?n ] => requested } then { R/run: [ n: ?n; kind: \"x\" ] }\n"
      "sync P when { R/run: [] => ok[]  caused by R/other: [] => requested as ?r } then { answer ?r => ok[] }\n";
  EXPECT_THAT(answers_of(kRun + kFailed + through + done + above), IsEmpty());
  EXPECT_THAT(answers_of(kRun + kFailed + through + done + above +
                         "sync Q when { A/c: [ n: ?n ] => ok[] } then { R/run: [ n: ?n; kind: \"x\" ] }\n"),
              ElementsAre("1 `R/run` is never answered after `A/a` => `ok`"));
}

TEST(CheckAnswers, ARingFromWhichNothingLeadsOutIsToldOnce) {
  const std::string done =
      "sync D when { A/a: [] => ok[]  caused by R/run: [] => requested as ?r } then { answer ?r => ok[] }\n";
  const std::string ring =
      "sync F when { A/a: [ n: ?n ] => failed[]  caused by R/run: [] => requested } then { Timer/wait: [ name: "
      "\"again\"; seconds: ?n ] }\n"
      "sync W when { Timer/wait: [ name: \"again\"; seconds: ?n ] => ok[] } then { A/b: [ n: ?n ] }\n"
      "sync V when { A/b: [ n: ?n ] => ok[] } then { Timer/wait: [ name: \"again\"; seconds: ?n ] }\n";
  EXPECT_THAT(answers_of(kRun + done + ring),
              ElementsAre("3 `R/run` is never answered after `Timer/wait: [ name: \"again\" ]` => `ok`"));
  // One that somebody leaves is none, nor one beside the work.
  EXPECT_THAT(answers_of(kRun + done + ring +
                         "sync X when { A/b: [ n: 0 ] => ok[]  caused by R/run: [] => requested as ?r } then { answer "
                         "?r => ok[] }\n"),
              IsEmpty());
  EXPECT_THAT(answers_of("sync S when { R/run: [ n: ?n ] => requested } then { A/a: [ n: ?n ] A/b: [ n: ?n ] }\n" +
                         done + kFailed + ring.substr(ring.find("sync W"))),
              IsEmpty());
}

TEST(CheckAnswers, ARingMayKeepARequestOpenForAnAnswerFromState) {
  const std::string asked =
      "concept R [Q] { state { asked: Q -> Request } actions {\naction run(n: Int) { runs: answered -> ok } } }";
  const std::string rules =
      "sync S when { R/run: [ n: ?n ] => requested } then { A/b: [ n: ?n ] }\n"
      "sync V when { A/b: [ n: ?n ] => ok[] } then { A/b: [ n: ?n ] }\n";
  const std::string answer =
      "sync D when { A/c: [] => ok[ n: ?n ] } where { R: { asked: ?r } } then { answer ?r => ok[] }";
  auto told = [&](const std::string& all) {
    std::vector<std::string> lines = told_of_flow(kit_of({asked, kDone}, all));
    return std::ranges::count_if(lines, [](const std::string& line) { return line.find("no-answer") != line.npos; });
  };
  EXPECT_EQ(told(rules), 1);
  EXPECT_EQ(told(rules + answer), 0);
}

TEST(CheckAnswers, ASyncThatNeedsARecordThatNothingMakesDoesNotAnswer) {
  const std::string done =
      "sync D when { A/a: [ n: ?n ] => ok[]  A/b: [ n: ?n ] => ok[]  R/run: [ n: ?n ] => requested as ?r } then { "
      "answer ?r => ok[] }\n";
  EXPECT_THAT(answers_of(kRun + kFailed + done), ElementsAre("1 `R/run` is never answered after `A/a` => `ok`"));
  EXPECT_THAT(answers_of(kRun + kFailed + done + "sync B when { A/c: [ n: ?n ] => ok[] } then { A/b: [ n: ?n ] }\n"),
              IsEmpty());
  EXPECT_THAT(answers_of(done),
              ElementsAre("2 no sync can fire on `R/run: [] => requested`: every request ends in engine.unanswered"));
  // What a call from outside has made is there if it leads to the request.
  EXPECT_THAT(answers_of(kRun + kFailed + done +
                         "sync B when { A/b: [ n: ?n ] => ok[] } then { R/run: [ n: ?n; kind: \"x\" ] }\n"),
              IsEmpty());
}

}  // namespace check_answers_test
}  // namespace sluice::lang
