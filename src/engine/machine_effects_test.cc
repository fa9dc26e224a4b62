// Effects: how many run at once and whose turn it is, what their results become, and what comes too late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/journal/journal_search.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_effects_test {

using testing::ElementsAre;

const std::string kPump = R"(concept Pump [P] {
  parallel: 2
  actions {
    action plan(tank: String) {
      -> ok(tank: String)
    }
    action fill(tank: String) {
      runs: effect
      retry: safe
      deadline: 1h
      -> ok(tank: String)
    }
    action drain(tank: String) {
      runs: effect
      -> ok(tank: String)
    }
    action weigh(tank: String) {
      runs: effect
      retry: probe
      -> ok(tank: String)
    }
  }
}
)";
const std::string kFour = R"(
sync Four when { Pump/plan: [] => ok[] }
          then { Pump/fill: [ tank: "a1" ] Pump/fill: [ tank: "a2" ] Pump/fill: [ tank: "a3" ] Pump/fill: [ tank: "a4" ] }
)";

// Pumps that note which tank they fill.
struct Pumps : World {
  Pumps() : World({kPump}, kFour) {
    on("Pump/fill").perform = [this](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
      filled.emplace_back(work.at("tank").as_string());
      return lang::Completion{"ok", work.as_object()};
    };
  }
  void perform_all_with(const lang::PerformedAction& result) {
    on("Pump/fill").perform = [result](const json::value&, lang::Attempt&) { return result; };
  }
  std::vector<std::string> filled;
};

TEST(MachineEffects, NoMoreOfAConceptRunAtOnceThanItAllows) {
  Pumps world;
  for (int i = 0; i < 5; ++i) world.start("Pump/fill", R"({"tank":"t"})");
  EXPECT_EQ(world.queue.size(), 2U);
  EXPECT_EQ(world.machine().attempts_under_way(), 2U);
  for (int done = 1; done <= 5; ++done) {
    EXPECT_TRUE(world.queue.run());
    world.turn();
    EXPECT_EQ(world.queue.size(), static_cast<size_t>(std::min(2, 5 - done)));
  }
  EXPECT_EQ(world.filled.size(), 5U);
  EXPECT_EQ(world.machine().open_flows(), 0U);
}

TEST(MachineEffects, NoMoreRunAtOnceThanThereAreThreads) {
  Pumps world;
  world.limits.effect_threads = 1;
  for (int i = 0; i < 3; ++i) world.start("Pump/fill", R"({"tank":"t"})");
  EXPECT_EQ(world.queue.size(), 1U);
  world.settle();
  EXPECT_EQ(world.filled.size(), 3U);
}

TEST(MachineEffects, FlowsTakeTurns) {
  Pumps world;
  world.start("Pump/plan", R"({"tank":"a"})");
  world.start("Pump/fill", R"({"tank":"b1"})");
  world.start("Pump/fill", R"({"tank":"c1"})");
  world.settle();
  EXPECT_THAT(world.filled, ElementsAre("a1", "a2", "b1", "c1", "a3", "a4"));
}

TEST(MachineEffects, AResultThatIsTooLargeIsAFault) {
  Pumps world;
  world.limits.result_bytes = size_t{1} << 20U;
  world.perform_all_with(lang::Completion{"ok", {{"tank", std::string((size_t{1} << 20U) + 1, 'x')}}});
  Outcome outcome = world.run("Pump/fill", R"({"tank":"a"})");
  EXPECT_EQ(outcome.end, (End{"engine.fault",
                              {{"message",
                                "its result has more than 1 MB; what is large belongs into a blob, with its digest in "
                                "its place"}},
                              true}));
  world.perform_all_with(lang::Completion{"ok", {{"tank", std::string((size_t{1} << 20U) - 100, 'x')}}});
  EXPECT_EQ(world.run("Pump/fill", R"({"tank":"a"})").end.variant, "ok");
}

TEST(MachineEffects, NothingElseThatAHandlerGivesMayBeTooLarge) {
  Pumps world;
  world.limits.result_bytes = size_t{1} << 20U;
  lang::Completion large{"ok", {{"tank", std::string((size_t{1} << 20U) + 1, 'x')}}};
  const std::string place = " has more than 1 MB; what is large belongs into a blob, with its digest in its place";
  auto fault = [&](const std::string& action) {
    world.start(action, R"({"tank":"a"})");
    world.restart();
    world.settle_in_time();
    Step step = world.step_of(action);
    EXPECT_EQ(step.end->variant, "engine.fault") << action;
    return std::string(step.end->fields["message"].as_string());
  };
  world.on("Pump/plan").act = [&](const json::object&, lang::Rows&) { return large; };
  EXPECT_EQ(fault("Pump/plan"), "its result" + place);
  world.on("Pump/fill").begin = [&](const json::object&, lang::Rows&) -> lang::BegunAction {
    return lang::Started{json::value(large.fields)};
  };
  EXPECT_EQ(fault("Pump/fill"), "its work" + place);
  world.on("Pump/weigh").probe = [&](const json::value&, lang::Attempt&) -> lang::ProbedAction {
    return lang::Done<lang::Completion>{large};
  };
  EXPECT_EQ(fault("Pump/weigh"), "its result" + place);
  world.on("Pump/drain").finish = [&](const json::object&, const lang::Ending&, lang::Rows&) -> lang::Ending {
    return large;
  };
  Outcome finished = world.run("Pump/drain", R"({"tank":"a"})");
  EXPECT_EQ(finished.end, (End{"engine.fault", {{"message", "its result" + place}}, true}));
}

TEST(MachineEffects, AReasonIsCutWhereNobodyWouldReadOn) {
  Pumps world;
  std::string reason(4095, 'x');
  reason += "€ and more";
  world.perform_all_with(lang::Again{reason, 0});
  world.start("Pump/fill", R"({"tank":"a"})");
  world.queue.run();
  world.turn();
  EXPECT_EQ(world.step_of("Pump/fill").note, std::string(4095, 'x') + " …");
  world.on("Pump/drain").perform = [](const json::value&, lang::Attempt&) -> lang::PerformedAction {
    throw std::runtime_error(std::string(size_t{10} << 20U, 'y'));
  };
  End fault = world.run("Pump/drain", R"({"tank":"a"})").end;
  EXPECT_EQ(std::string(fault.fields["message"].as_string()), std::string(4096, 'y') + " …");
}

TEST(MachineEffects, AnOperatorsRetryOfOneThatWaitsForItsTurnRunsItOnce) {
  Pumps world;
  world.limits.effect_threads = 1;
  world.start("Pump/fill", R"({"tank":"first"})");
  Ulid flow = world.start("Pump/fill", R"({"tank":"second"})");
  ASSERT_EQ(world.queue.size(), 1U);
  ASSERT_TRUE(world.decide({.kind = Decision::Kind::retry, .flow = flow, .invocation = flow}));
  world.perform_all_with(lang::Again{"no water", 60'000});
  world.settle();
  // Had it been in the line twice it would have run again before its pause was over.
  size_t again = 0;
  for (const Step& step : world.steps()) again += step.flow == flow && step.by == "effect" ? 1 : 0;
  EXPECT_EQ(again, 1U);
}

TEST(MachineEffects, WhatAnAttemptThrowsIsAFaultThatMayHaveDoneIt) {
  Pumps world;
  world.on("Pump/fill").perform = [](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
    if (work.at("tank") == "a") throw std::runtime_error("the hose burst");
    throw 42;
  };
  EXPECT_EQ(world.run("Pump/fill", R"({"tank":"a"})").end,
            (End{"engine.fault", object(R"({"message":"the hose burst"})"), true}));
  EXPECT_EQ(world.run("Pump/fill", R"({"tank":"b"})").end,
            (End{"engine.fault", object(R"({"message":"an unknown exception"})"), true}));
}

TEST(MachineEffects, AnAttemptMayAskForALongerPause) {
  Pumps world;
  world.perform_all_with(lang::Again{"no water", 5000});
  world.start("Pump/fill", R"({"tank":"a"})");
  world.settle();
  std::vector<Step> steps = world.steps();
  EXPECT_EQ(steps.back().kind, Step::Kind::again);
  EXPECT_EQ(steps.back().note, "no water");
  EXPECT_EQ(steps.back().due_ms, steps.back().at_ms + 5000);
}

TEST(MachineEffects, AttemptsAreRepeatedAfterPausesThatDouble) {
  Pumps world;
  world.limits.max_attempts = 10;
  world.perform_all_with(lang::Again{"no water", 0});
  world.start("Pump/fill", R"({"tank":"a"})");
  world.settle_in_time();
  std::vector<int64_t> pauses;
  for (const Step& step : world.steps()) {
    if (step.due_ms != 0) pauses.push_back(step.due_ms - step.at_ms);
  }
  EXPECT_THAT(pauses, ElementsAre(200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000));
  EXPECT_EQ(world.ended[0]->end, (End{"engine.unavailable", object(R"({"message":"no water"})"), false}));
}

TEST(MachineEffects, WithACrashInBetweenNobodyKnowsWhatWasDone) {
  Pumps world;
  world.perform_all_with(lang::Again{"no water", 0});
  world.start("Pump/fill", R"({"tank":"a"})");
  world.restart();
  world.settle_in_time();
  EXPECT_EQ(world.journal().back(), R"(finish Pump/fill => engine.unknown {"message":"no water"} maybe by effect)");
}

TEST(MachineEffects, WhatIsSurelyNotDoneIsSoAlsoAtItsDeadline) {
  for (const std::string action : {"Pump/drain", "Pump/weigh"}) {
    Pumps world;
    world.on(action).perform = [](const json::value&, lang::Attempt&) -> lang::PerformedAction {
      return lang::Again{"no water", 0};
    };
    world.start(action, R"({"tank":"a"})");
    world.queue.run();
    world.turn();
    world.stop();
    world.clock.advance_ms(65'000);  // the next attempt was due, and then the deadline passed, while nothing ran
    world.restart();
    world.settle();
    ASSERT_EQ(world.ends().back(), "finish " + action + " => engine.unavailable") << world.journal().back();
    EXPECT_EQ(world.step_of(action).end, (End{"engine.unavailable", {{"message", "no water"}}, false}));
    EXPECT_EQ(world.step_of(action).by, "deadline");
  }
}

TEST(MachineEffects, WhatNeverBeganIsSurelyNotDoneAtItsDeadline) {
  Pumps world;
  for (int i = 0; i < 3; ++i) world.start("Pump/drain", R"({"tank":"t"})");
  ASSERT_EQ(world.machine().attempts_under_way(), 2U);
  world.clock.advance_ms(60'000);
  world.turn();
  std::vector<End> ends;
  for (const Step& step : world.steps()) {
    if (step.end) ends.push_back(*step.end);
  }
  const End under_way{"engine.timeout", {{"message", "its deadline passed"}}, true};
  EXPECT_THAT(ends, testing::UnorderedElementsAre(
                        under_way, under_way,
                        End{"engine.unavailable", {{"message", "its deadline passed before it began"}}, false}));
}

TEST(MachineEffects, AProbeThatCannotTellEndsInUnknown) {
  Pumps world;
  world.on("Pump/weigh").probe = [](const json::value&, lang::Attempt&) -> lang::ProbedAction {
    return lang::Unsure{};
  };
  world.start("Pump/weigh", R"({"tank":"a"})");
  world.restart();
  world.settle_in_time();
  EXPECT_EQ(
      world.journal().back(),
      R"(finish Pump/weigh => engine.unknown {"message":"a probe could not tell whether it was done"} maybe by effect)");
}

TEST(MachineEffects, OnlyAnEffectThatMustNotBeRepeatedSaysThatItStarts) {
  Pumps world;
  world.run("Pump/drain", R"({"tank":"a"})");
  world.run("Pump/fill", R"({"tank":"a"})");
  EXPECT_THAT(world.journal(),
              ElementsAre("begin Pump/drain", "started Pump/drain", R"(finish Pump/drain => ok {"tank":"a"} by effect)",
                          "begin Pump/fill", R"(finish Pump/fill => ok {"tank":"a"} by effect)"));
}

TEST(MachineEffects, ResultsThatComeAfterTheFlowSettledAreRecordedWithIt) {
  Pumps world;
  world.limits.effect_threads = 2;
  Ulid flow = world.start("Pump/plan", R"({"tank":"a"})");
  world.clock.advance_ms(3'600'000);
  world.turn();  // the deadlines of all four pass
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_EQ(world.machine().open_flows(), 0U);
  EXPECT_TRUE(world.queue.run());
  EXPECT_TRUE(world.queue.run());
  world.turn();
  auto snapshot = world.store->read();
  auto steps = steps_from(**snapshot, (**(*snapshot)->flow(flow)).head);
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->size(), 11U);
  EXPECT_EQ((*steps)[9].kind, Step::Kind::late);
  EXPECT_EQ((*steps)[9].end, (End{"ok", object(R"({"tank":"a1"})"), false}));
  EXPECT_EQ((*steps)[10].end, (End{"ok", object(R"({"tank":"a2"})"), false}));
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_FALSE(world.queue.run());
  // Their places are free again.
  world.start("Pump/fill", R"({"tank":"b"})");
  EXPECT_EQ(world.queue.size(), 1U);
}

}  // namespace machine_effects_test
}  // namespace sluice::engine
