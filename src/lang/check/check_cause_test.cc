// Causes that cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_cause_test {

using testing::ElementsAre;
using testing::IsEmpty;

// Work is asked for and answered; Step runs, and can be undone; Log records.
const std::string kWork =
    "concept Work [W] { actions { action run(work: W) { runs: answered -> ok(work: W) -> failed(reason: String) } } }";
const std::string kStep =
    "concept Step [S] { actions { action go(name: String) { runs: effect reversal: back -> ok(step: S) }\n"
    "action back(step: S) { -> ok(step: S) } } }";
const std::string kLog = "concept Log [L] { actions { action write(text: String) { -> ok(entry: L) } } }";

std::vector<std::string> causes_of(const std::string& rules) {
  std::vector<std::string> lines;
  for (const Diagnostic& each : check(kit_of({kWork, kStep, kLog}, rules)).diagnostics) {
    if (each.rule == "never-caused" || each.severity == Diagnostic::Severity::error) lines.push_back(line_of(each));
  }
  return lines;
}

const std::string kGo = "sync Go when { Work/run: [] => requested } then { Step/go: [ name: \"x\" ] }\n";
const std::string kNote = "sync Note when { Step/go: [] => ok[] } then { Log/write: [ text: \"x\" ] }\n";
const std::string kAnswer = " as ?r } then { answer ?r => ok[] }\n";

TEST(CheckCause, TellsOfACauseFromWhichNoSyncLeads) {
  EXPECT_THAT(causes_of("sync Done when { Step/go: [] => ok[] caused by Work/run: [] => requested" + kAnswer),
              ElementsAre("rules.sync:1:48+8 warning never-caused: `Step/go => ok` can never be caused by `Work/run => "
                          "requested`: no sync leads there, so `Done` never fires [start it from a sync on `Work/run: "
                          "[] => requested`, or name what does lead to it]"));
  EXPECT_THAT(causes_of("sync Done when { Step/go: [] => [] caused by Log/write: [] => [ entry: ?e ] }\n"
                        "then { Log/write: [ text: ?e ] }"),
              ElementsAre("rules.sync:1:46+9 warning never-caused: `Step/go` can never be caused by `Log/write`: no "
                          "sync leads there, so `Done` never fires [start it from a sync on `Log/write: [] => []`, or "
                          "name what does lead to it]"));
}

TEST(CheckCause, LiteralsAreCompared) {
  auto of = [](const std::string& begun, const std::string& step, const std::string& cause) {
    return causes_of("sync Go when { Work/run: [ work: \"" + begun +
                     "\" ] => requested } then { Step/go: [ name: \"x\" ] " +
                     "}\nsync Done when { Step/go: [ name: \"" + step + "\" ] => ok[] caused by Work/run: [ work: \"" +
                     cause + "\" ] => requested" + kAnswer);
  };
  EXPECT_THAT(of("a", "x", "a"), IsEmpty());
  EXPECT_THAT(
      of("a", "y", "a"),
      ElementsAre("rules.sync:2:59+8 warning never-caused: `Step/go: [ name: \"y\" ] => ok` can never be caused by "
                  "`Work/run: [ work: \"a\" ] => requested`: no sync leads there, so `Done` never fires [start "
                  "it from a sync on `Work/run: [ work: \"a\" ] => requested`, or name what does lead to it]"));
  EXPECT_THAT(of("a", "x", "b"), testing::SizeIs(1));
}

TEST(CheckCause, AWayMayPassThroughOtherSyncs) {
  std::string done = "sync Done when { Log/write: [] => ok[] caused by Work/run: [] => requested" + kAnswer;
  EXPECT_THAT(causes_of(kGo + kNote + done), IsEmpty());
  EXPECT_THAT(causes_of(kGo + done), testing::SizeIs(1));
  EXPECT_THAT(causes_of(kNote + done), testing::SizeIs(1));
}

TEST(CheckCause, ASyncIsNoWayToItsOwnCause) {
  EXPECT_THAT(causes_of("sync Again [loop] when { Log/write: [] => ok[] caused by Work/run: [] => requested }\n"
                        "then { Log/write: [ text: \"x\" ] }"),
              testing::SizeIs(1));
}

TEST(CheckCause, TheOutcomeThatIsNamedMustLeadThere) {
  std::string failed = "sync Tell when { Work/run: [] => failed[] } then { Log/write: [ text: \"x\" ] }\n";
  auto done = [](const std::string& outcome) {
    return "sync Done when { Log/write: [] => ok[] caused by Work/run: [] => " + outcome +
           "[] }\nthen { Step/go: [ name: \"x\" ] }\n";
  };
  EXPECT_THAT(causes_of(failed + done("failed")), IsEmpty());
  EXPECT_THAT(causes_of(failed + done("ok")), testing::SizeIs(1));
  EXPECT_THAT(causes_of(failed + done("engine.timeout")), testing::SizeIs(1));
}

TEST(CheckCause, WhatFollowsACompletionIsNotBeneathItsRequest) {
  EXPECT_THAT(causes_of("sync Tell when { Work/run: [] => ok[] } then { Log/write: [ text: \"x\" ] }\n"
                        "sync Done when { Log/write: [] => ok[] caused by Work/run: [] => requested" +
                        kAnswer),
              testing::SizeIs(1));
}

TEST(CheckCause, AnAnswerLeadsFromWhatItFollowedToWhatFollowsIt) {
  EXPECT_THAT(causes_of(kGo + "sync Done when { Step/go: [] => ok[] caused by Work/run: [] => requested" + kAnswer +
                        "sync Tell when { Work/run: [] => ok[] caused by Step/go: [] => ok[ step: ?s ] }\n"
                        "then { Log/write: [ text: ?s ] }"),
              IsEmpty());
}

TEST(CheckCause, TheEngineStartsReversals) {
  EXPECT_THAT(causes_of("sync A when { Step/back: [] => ok[] caused by Flow/undo: [] => requested }\n"
                        "then { Log/write: [ text: \"x\" ] }\n"
                        "sync B when { Step/back: [] => ok[] caused by Step/go: [] => ok[] }\n"
                        "then { Log/write: [ text: \"x\" ] }"),
              IsEmpty());
}

TEST(CheckCause, APatternOnEverythingMayLeadAnywhere) {
  EXPECT_THAT(causes_of("sync All [loop] when { ?c/?a: [] => [] } then { Log/write: [ text: \"x\" ] }\n"
                        "sync Done when { Log/write: [] => ok[] caused by Work/run: [] => requested" +
                        kAnswer),
              IsEmpty());
}

}  // namespace check_cause_test
}  // namespace sluice::lang
