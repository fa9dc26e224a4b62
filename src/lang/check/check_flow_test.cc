// What follows from what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_flow_test {

using testing::ElementsAre;
using testing::IsEmpty;

// Work is asked for and answered; Step runs, Log records.
const std::string kWork =
    "concept Work [W] { actions { action run(work: W) { runs: answered -> ok(work: W) -> failed(reason: String) } } }";
const std::string kStep =
    "concept Step [S] { actions { action go(name: String) { runs: effect -> ok(step: S) -> broken(reason: String) }\n"
    "action tick(n: Int) { -> ok(n: Int) } } }";
const std::string kLog = "concept Log [L] { actions { action write(text: String) { -> ok(entry: L) -> full } } }";

std::vector<std::string> flow_of(const std::string& rules) { return told_of_flow(kit_of({kStep, kLog}, rules)); }
std::vector<std::string> work_of(const std::string& rules) { return told_of_flow(kit_of({kWork, kStep, kLog}, rules)); }

TEST(CheckFlow, VariantsOfStartedActionsAreHandled) {
  EXPECT_THAT(
      flow_of("sync A when { Log/write: [] => ok[] } then { Step/go: [ name: \"x\" ] }\nsync B [eventual] when { "
              "Step/go: [] => ok[] } then { Step/tick: [ n: 1 ] }"),
      ElementsAre(
          "rules.sync:1:46+7 warning unhandled-variant: sync `A` starts `Step/go`, but no sync matches its `broken` "
          "[write a sync: `when { Step/go: [] => broken[] }`]"));
}

TEST(CheckFlow, AnAnsweredActionThatNoSyncAnswersWithOkIsToldOf) {
  std::string begin = "sync A when { Work/run: [] => requested } then { Step/go: [ name: \"x\" ] }\n";
  std::string failed =
      "sync B when { Step/go: [] => []  caused by Work/run: [] => requested as ?ask } then { answer ?ask => failed[ "
      "reason: \"no\" ] }\n";
  EXPECT_THAT(work_of(begin + failed),
              ElementsAre("0.concept:1:70+2 warning unreachable-variant: no sync answers `Work/run` with `ok`: syncs "
                          "answer it with `failed` alone [write `answer ?ask => ok[ … ]` where its work is done]"));
  EXPECT_THAT(
      work_of(begin + failed +
              "sync C when { Step/tick: [] => ok[]  caused by Work/run: [] => requested as ?ask } then { answer "
              "?ask => ok[] }\nsync D when { Work/run: [] => requested } then { Step/tick: [ n: 1 ] }"),
      IsEmpty());
}

TEST(CheckFlow, ASyncOnOtherLiteralsHandlesNothing) {
  auto of = [](const std::string& full, const std::string& ok) {
    return flow_of(
        "sync A when { Step/tick: [] => ok[] } then { Log/write: [ text: \"x\" ] }\nsync B when { Log/write: [ "
        "text: \"" +
        full + "\" ] => full[] } then { Step/go: [ name: \"x\" ] }\nsync C when { Log/write: [ text: \"" + ok +
        "\" ] => ok[] } then { Step/go: [ name: \"x\" ] }\nsync D when { Step/go: [] => [] } then { "
        "Step/tick: [ n: 1 ] }\nsync E [loop] when { Step/tick: [ n: 2 ] => ok[] } then { Step/tick: [ n: 2 ] }");
  };
  EXPECT_THAT(of("x", "x"), IsEmpty());
  EXPECT_THAT(
      of("y", "y"),
      ElementsAre("rules.sync:1:46+9 warning unhandled-variant: sync `A` starts `Log/write: [ text: \"x\" ]`, but "
                  "no sync matches its `full` [write a sync: `when { Log/write: [ text: \"x\" ] => full[] }`]",
                  "rules.sync:1:46+9 warning leads-nowhere: `Log/write: [ text: \"x\" ] => ok` leads nowhere: "
                  "sync `A` starts it, and no sync takes its `entry` [match `Log/write: [ text: \"x\" ] => ok[ … "
                  "]`, or start it from an [eventual] sync]"));
}

TEST(CheckFlow, AnAnyVariantPatternHandlesAll) {
  EXPECT_THAT(flow_of("sync A when { Log/write: [] => ok[] } then { Step/go: [ name: \"x\" ] }\nsync B when { Step/go: "
                      "[] => [] } then { Step/tick: [ n: 1 ] }"),
              IsEmpty());
}

TEST(CheckFlow, APatternOnEverythingHandlesNothing) {
  EXPECT_THAT(flow_of("sync A when { Log/write: [] => ok[] } then { Step/go: [ name: \"x\" ] }\nsync B when { ?c/?a: "
                      "[] => [] } then { Step/tick: [ n: 1 ] }"),
              testing::SizeIs(2));
}

TEST(CheckFlow, RepetitionHandlesAVariant) {
  EXPECT_THAT(
      flow_of("sync A [eventual retry(full)] when { Step/tick: [] => ok[] } then { Log/write: [ text: \"x\" ] }"),
      IsEmpty());
}

TEST(CheckFlow, WhatTheCallerStartsIsTheCallers) {
  EXPECT_THAT(flow_of("sync A when { Step/go: [] => ok[] } then { Step/tick: [ n: 1 ] }"), IsEmpty());
}

TEST(CheckFlow, AnOkThatMakesSomethingLeadsSomewhere) {
  std::string handled = "\nsync B when { Log/write: [] => full[] } then { Step/tick: [ n: 1 ] }";
  EXPECT_THAT(flow_of("sync A when { Step/tick: [] => ok[] } then { Log/write: [ text: \"x\" ] }" + handled),
              testing::Contains("rules.sync:1:46+9 warning leads-nowhere: `Log/write => ok` leads nowhere: sync `A` "
                                "starts it, and no sync takes its "
                                "`entry`, though one goes on after `full` [match `Log/write: [] => ok[ … ]`, or start "
                                "it from an [eventual] sync]"));
}

TEST(CheckFlow, TheOkOfAnAnsweredActionLeadsSomewhereIfItsSiblingsDo) {
  const std::string start = "sync A when { Step/tick: [] => ok[] } then { Work/run: [ work: \"w\" ] }\n";
  const std::string failed = "sync B when { Work/run: [] => failed[] } then { Log/write: [ text: \"x\" ] }\n";
  const std::string told =
      "leads-nowhere: `Work/run => ok` leads nowhere: sync `A` starts it, and no sync takes its `made`, though one "
      "goes "
      "on after `failed`";
  auto nowhere = [&](const std::string& rules) {
    std::string work =
        "concept Work [W] { actions { action run(work: W) { runs: answered outside -> ok(made: String) -> "
        "failed } } }";
    std::vector<std::string> lines = told_of_flow(kit_of({work, kStep, kLog}, rules));
    return std::ranges::any_of(lines, [&](const std::string& line) { return line.find(told) != std::string::npos; });
  };
  EXPECT_TRUE(nowhere(start + failed));
  EXPECT_FALSE(nowhere(start));
  EXPECT_FALSE(nowhere(failed));
}

TEST(CheckFlow, AnswersAreReachedFromEveryOutcome) {
  std::string route = "sync Route when { Work/run: [] => requested } then { Step/go: [ name: \"x\" ] }\n";
  std::string done =
      "sync Done when { Step/go: [] => ok[]  caused by Work/run: [] => requested as ?r } then { answer ?r => ok[] }\n";
  std::string broken =
      "sync Broken when { Step/go: [] => broken[ reason: ?x ]  caused by Work/run: [] => requested as ?r } then { "
      "answer ?r => failed[ reason: ?x ] }\n";
  EXPECT_THAT(work_of(route + done + broken), IsEmpty());
  EXPECT_THAT(work_of(route + done),
              ElementsAre("rules.sync:1:54+7 warning no-answer: `Work/run` is never answered after `Step/go` => "
                          "`broken` [write a sync: `when { Step/go: [] "
                          "=> …  caused by Work/run: [] => requested as ?ask } then { answer ?ask => … }`]"));
  EXPECT_THAT(work_of(route + broken),
              testing::Contains(testing::HasSubstr("`Work/run` is never answered after `Step/go` => `ok`")));
  EXPECT_THAT(work_of("sync Other when { Step/go: [] => [] } then { Step/tick: [ n: 1 ] }"),
              ElementsAre("0.concept:1:37+3 warning no-answer: no active sync matches `Work/run: [] => requested`: "
                          "every request ends in engine.unanswered "
                          "[write the sync that does its work, or declare it `answered outside`]"));
}

TEST(CheckFlow, SideWorkNeedsNoAnswer) {
  EXPECT_THAT(
      work_of(
          "sync Route when { Work/run: [] => requested } then { Step/go: [ name: \"x\" ] Step/tick: [ n: 1 ] }\n"
          "sync Done when { Step/go: [] => []  caused by Work/run: [] => requested as ?r } then { answer ?r => ok[] }"),
      IsEmpty());
}

TEST(CheckFlow, WhatIsDecidedOutsideKeepsItsOwnPathOpenAlone) {
  std::string gate =
      "concept Gate [G] { actions { action ask(name: String) { runs: answered outside -> ok(gate: G) -> refused } } }";
  auto of = [&](const std::string& rules) { return told_of_flow(kit_of({kWork, kStep, kLog, gate}, rules)); };
  std::string decided =
      "sync Decided when { Gate/ask: [] => []  caused by Work/run: [] => requested as ?r } then { answer ?r => ok[] "
      "}\n";
  EXPECT_THAT(
      of("sync Both when { Work/run: [] => requested } then { Gate/ask: [ name: \"x\" ] Step/tick: [ n: 1 ] }\n" +
         decided + "sync Ticked when { Step/tick: [] => ok[] } then { Timer/cancel: [ name: \"x\" ] }"),
      IsEmpty());
  EXPECT_THAT(
      of("sync Ask when { Work/run: [ work: \"a\" ] => requested } then { Gate/ask: [ name: \"x\" ] }\n"
         "sync Tick when { Work/run: [ work: \"b\" ] => requested } then { Step/tick: [ n: 1 ] }\n" +
         decided),
      ElementsAre("rules.sync:2:64+9 warning no-answer: `Work/run` is never answered after `Step/tick` => `ok` "
                  "[write a sync: `when { Step/tick: [] => …  caused by Work/run: [] => requested as ?ask } then "
                  "{ answer ?ask => … }`]"));
}

TEST(CheckFlow, ARenewedWaitEndsQuietly) {
  EXPECT_THAT(work_of("sync Route when { Work/run: [] => requested } then { Timer/wait: [ name: \"x\"; seconds: 1 ] }\n"
                      "sync Done when { Timer/wait: [] => ok[]  caused by Work/run: [] => requested as ?r } then { "
                      "answer ?r => ok[] }"),
              IsEmpty());
}

TEST(CheckFlow, FlowIsNotJudgedWhenAFileHasErrors) {
  Kit kit = kit_of({kStep, kLog}, "sync A when { Step/tick: [] => ok[] } then { Log/write: [ text: \"x\" ] }");
  kit.incomplete = true;
  EXPECT_THAT(told_of_flow(kit), IsEmpty());
}

TEST(CheckFlow, WhatTheCallerStartsLeadsSomewhereIfItsSiblingsDo) {
  const std::string failed = "sync A when { Step/go: [] => broken[] } then { Step/tick: [ n: 1 ] }\n";
  EXPECT_THAT(flow_of(failed),
              ElementsAre("rules.sync:1:15+7 warning leads-nowhere: `Step/go => ok` leads nowhere: no sync takes its "
                          "`step`, though one goes on after `broken` [match `Step/go: [] => ok[ … ]` too]"));
  EXPECT_THAT(flow_of(failed + "sync B when { Step/go: [] => ok[] } then { Step/tick: [ n: 1 ] }\n"), IsEmpty());
}

}  // namespace check_flow_test
}  // namespace sluice::lang
