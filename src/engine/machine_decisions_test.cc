// What operators decide: cancel, resolve, retry, drop, move.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_decisions_test {

using testing::ElementsAre;
using Kind = Decision::Kind;

const std::string kWork = R"(concept Work [W] {
  actions {
    action hold(name: String) {
      runs: answered outside
      -> ok(name: String)
      -> no(name: String)
    }
    action fetch(name: String) {
      runs: effect
      -> ok(name: String)
    }
    action send(name: String) {
      -> ok(name: String)
      -> busy(name: String)
    }
    action note(name: String) {
      -> ok(name: String)
    }
  }
}
)";
const std::string kOpen = R"(
sync Begin when { Work/hold: [ name: ?n ] => requested }
           then { Work/fetch: [ name: ?n ] Timer/wait: [ name: "t"; seconds: 600 ] }
)";
const std::string kTell = R"(
sync Tell [eventual retry(busy)] when { Work/note: [ name: ?n ] => ok[] } then { Work/send: [ name: ?n ] }
)";
const std::string kInput = R"({"name":"a"})";

struct Desk : World {
  explicit Desk(const std::string& rules) : World({kWork}, rules) {}

  // Decides as uid:7, and tells the position of the step or what is wrong.
  Result<uint64_t> decide(Kind kind, const Ulid& flow, const Ulid& invocation = {}, lang::Completion as = {}) {
    Result<uint64_t> told = Error{.code = Code::unavailable, .message = "nobody was told"};
    machine().decide({.kind = kind,
                      .flow = flow,
                      .invocation = invocation,
                      .as = std::move(as),
                      .caller = {.name = "uid:7", .reason = "because"},
                      .on_done = [&](const Result<uint64_t>& result) { told = result; }});
    turn();
    return told;
  }
  std::string refusal(Kind kind, const Ulid& flow, const Ulid& invocation = {}, lang::Completion as = {}) {
    auto told = decide(kind, flow, invocation, std::move(as));
    return told ? "done" : to_string(told.error());
  }
  // A dead letter's flow.
  Ulid dead() {
    limits.max_child_attempts = 1;
    on("Work/send").act = [this](const json::object& ask, lang::Rows&) -> lang::Completion { return {variant, ask}; };
    run("Work/note", kInput);
    for (const Step& step : steps()) {
      if (step.kind == Step::Kind::dead) return step.flow;
    }
    ADD_FAILURE() << "there is no dead letter";
    return {};
  }
  std::string variant = "busy";
};

const std::vector<std::string> kCancelled = {
    "begin Work/hold",
    "begin Work/fetch",
    "started Work/fetch",
    "begin Timer/wait",
    "cancel by operator",
    R"(finish Work/hold => engine.cancelled {"message":"cancelled by uid:7"} maybe by cancel)",
    R"(finish Work/fetch => engine.cancelled {"message":"cancelled by uid:7"} maybe by cancel)",
    R"(finish Timer/wait => engine.cancelled {"message":"cancelled by uid:7"} maybe by cancel)"};

TEST(MachineDecisions, CancelEndsEverythingThatIsOpen) {
  Desk world(kOpen);
  Ulid flow = world.start("Work/hold", kInput);
  world.turn();
  auto position = world.decide(Kind::cancel, flow);
  ASSERT_TRUE(position);
  Step step = world.steps()[*position - 1];
  EXPECT_EQ(step.kind, Step::Kind::cancel);
  EXPECT_EQ(step.caller, (Caller{"uid:7", "because"}));
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_EQ(world.summary(flow)["failure"], "cancelled by uid:7");
  ASSERT_EQ(world.ended.size(), 1U);
  EXPECT_EQ(world.ended[0]->end.variant, "engine.cancelled");
  std::vector<std::string> journal = world.journal();
  std::vector<std::string> expected = kCancelled;
  std::ranges::sort(journal);
  std::ranges::sort(expected);
  EXPECT_EQ(journal, expected);
  // The attempt under way is told, and recorded when it ends.
  bool cancelled = false;
  world.on("Work/fetch").perform = [&](const json::value& work, lang::Attempt& attempt) -> lang::PerformedAction {
    cancelled = attempt.cancelled();
    return lang::Completion{"ok", work.as_object()};
  };
  world.settle();
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(world.journal().back(), R"(late => ok {"name":"a"} by effect)");
}

TEST(MachineDecisions, ARestartRightAfterACancelChangesNothing) {
  for (int turns = 1; turns < 4; ++turns) {
    Desk world(kOpen);
    world.limits.batch_steps = 1;
    Ulid flow = world.start("Work/hold", kInput);
    for (int i = 0; i < 3; ++i) world.turn();
    ASSERT_TRUE(world.decide(Kind::cancel, flow));
    for (int i = 1; i < turns; ++i) world.turn();
    world.restart();
    world.settle_in_time();
    std::vector<std::string> journal = world.journal();
    std::vector<std::string> expected = kCancelled;
    std::ranges::sort(journal);
    std::ranges::sort(expected);
    EXPECT_EQ(journal, expected) << turns;
    EXPECT_EQ(world.status(flow), "failed");
    EXPECT_EQ(world.summary(flow)["failure"], "cancelled by uid:7");
  }
}

TEST(MachineDecisions, CancelEndsAChildFlowThatIsToBeRepeated) {
  Desk world(kTell);
  world.on("Work/send").act = [](const json::object& ask, lang::Rows&) -> lang::Completion { return {"busy", ask}; };
  world.run("Work/note", kInput);
  Ulid child = world.steps().back().flow;
  EXPECT_EQ(world.status(child), "running");
  ASSERT_TRUE(world.decide(Kind::cancel, child));
  EXPECT_EQ(world.status(child), "failed");
  world.restart();
  world.pass(1000);
  EXPECT_EQ(world.journal().back(), "cancel by operator");
}

TEST(MachineDecisions, ResolveEndsAnEffectAsTheOperatorSays) {
  Desk world(kTell + "sync After when { Work/fetch: [ name: ?n ] => ok[] } then { Work/send: [ name: ?n ] }");
  Ulid flow = world.start("Work/fetch", kInput);
  EXPECT_EQ(world.refusal(Kind::resolve_as, flow, flow, {"maybe", {}}),
            to_string(Error{
                .code = Code::invalid, .message = "Work/fetch has no variant maybe", .next = "sluice kit show Work"}));
  auto position = world.decide(Kind::resolve_as, flow, flow, {"ok", object(R"({"name":"b"})")});
  ASSERT_TRUE(position);
  EXPECT_EQ(*position, 3U);
  EXPECT_EQ(world.ended[0]->end, (End{"ok", object(R"({"name":"b"})"), false}));
  EXPECT_EQ(world.status(flow), "ok");
  EXPECT_THAT(world.journal(), ElementsAre("begin Work/fetch", "started Work/fetch",
                                           R"(finish Work/fetch => ok {"name":"b"} by operator)",
                                           R"(act Work/send => ok {"name":"a"})"));
  EXPECT_EQ(world.steps()[2].caller, (Caller{"uid:7", "because"}));
  world.settle();
  EXPECT_EQ(world.journal().back(), R"(late => ok {"name":"a"} by effect)");
}

// One that must not be repeated, and was under way when the process ended: who decides before it ends in
// engine.unknown spares the flow that.
TEST(MachineDecisions, AnOperatorWhoComesFirstKnowsBetterThanTheCrash) {
  for (Kind kind : {Kind::resolve_as, Kind::retry}) {
    Desk world(kTell);
    Ulid flow = world.start("Work/fetch", kInput);
    world.restart();
    ASSERT_TRUE(world.decide(kind, flow, flow, {"ok", object(R"({"name":"b"})")}));
    world.settle();
    EXPECT_EQ(world.status(flow), "ok");
    std::vector<std::string> expected = {"begin Work/fetch", "started Work/fetch",
                                         R"(finish Work/fetch => ok {"name":"b"} by operator)"};
    if (kind == Kind::retry) {
      expected = {"begin Work/fetch", "started Work/fetch", "again Work/fetch by operator", "started Work/fetch",
                  R"(finish Work/fetch => ok {"name":"a"} by effect)"};
    }
    EXPECT_EQ(world.journal(), expected);
  }
}

TEST(MachineDecisions, WhatIsTriedAgainHasItsTimeAnew) {
  Desk world(kTell);
  bool open = false;
  world.on("Work/fetch").perform = [&](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
    if (!open) return lang::Again{"not yet", 0};
    return lang::Completion{"ok", work.as_object()};
  };
  Ulid flow = world.start("Work/fetch", kInput);
  world.queue.run();
  world.turn();
  world.stop();
  world.clock.advance_ms(3'600'000);  // its deadline is long over
  world.restart();
  ASSERT_TRUE(world.decide(Kind::retry, flow, flow));
  open = true;
  world.settle();
  EXPECT_EQ(world.status(flow), "ok");
  EXPECT_EQ(world.step_of("Work/fetch").by, "effect");
}

TEST(MachineDecisions, ResolveAnswersARequest) {
  Desk world(kOpen);
  Ulid flow = world.start("Work/hold", kInput);
  ASSERT_TRUE(world.decide(Kind::resolve_as, flow, flow, {"no", object(kInput)}));
  EXPECT_EQ(world.ended[0]->end.variant, "no");
}

TEST(MachineDecisions, ThereMustBeSomethingToDecide) {
  Desk world(kOpen);
  Ulid flow = world.start("Work/hold", kInput);
  std::string id = sluice::to_string(flow);
  Error nothing{.code = Code::conflict,
                .message = "there is nothing to decide about " + id + " in flow " + id,
                .next = "sluice why " + id};
  EXPECT_EQ(world.refusal(Kind::retry, flow, flow), to_string(nothing));
  ASSERT_TRUE(world.decide(Kind::cancel, flow));
  Error settled{.code = Code::conflict, .message = "flow " + id + " is not open", .next = "sluice flow show " + id};
  for (Kind kind : {Kind::cancel, Kind::drop, Kind::move}) {
    EXPECT_EQ(world.refusal(kind, flow), to_string(settled));
  }
}

TEST(MachineDecisions, DropGivesADeadLetterUp) {
  Desk world(kTell + kOpen);
  Ulid dead = world.dead();
  EXPECT_EQ(world.status(dead), "stuck");
  world.restart();
  ASSERT_TRUE(world.decide(Kind::drop, dead));
  EXPECT_EQ(world.status(dead), "failed");
  EXPECT_EQ(world.summary(dead)["failure"], "Work/send => busy");
  EXPECT_EQ(world.journal().back(), "drop by operator");
  Ulid open = world.start("Work/hold", kInput);
  EXPECT_EQ(world.refusal(Kind::drop, open),
            to_string(Error{.code = Code::conflict,
                            .message = "flow " + sluice::to_string(open) + " is no dead letter",
                            .next = "sluice flow dead list"}));
}

TEST(MachineDecisions, RetryDispatchesADeadLetterAgain) {
  Desk world(kTell);
  Ulid dead = world.dead();
  ASSERT_TRUE(world.decide(Kind::retry, dead));
  world.settle();
  EXPECT_EQ(world.status(dead), "stuck");  // it failed again
  world.variant = "ok";
  ASSERT_TRUE(world.decide(Kind::retry, dead));
  world.restart();
  world.settle();
  EXPECT_EQ(world.status(dead), "ok");
  EXPECT_EQ(world.journal().back(), R"(act Work/send => ok {"name":"a"})");
}

TEST(MachineDecisions, MoveLetsAFlowGoOnUnderTheNewestRules) {
  auto after = [](const std::string& name) {
    return "sync After when { Work/hold: [] => ok[] } then { Work/note: [ name: \"" + name + "\" ] }";
  };
  Desk world(after("old"));
  Ulid moved = world.start("Work/hold", kInput);
  Ulid stays = world.start("Work/hold", kInput);
  ASSERT_TRUE(world.reload(after("new")));
  ASSERT_TRUE(world.decide(Kind::move, moved));
  EXPECT_EQ(world.steps().back().note, world.machine().sync_set().hash());
  ASSERT_TRUE(world.decide(Kind::resolve_as, moved, moved, {"ok", object(kInput)}));
  EXPECT_EQ(world.journal().back(), R"(act Work/note => ok {"name":"new"})");
  ASSERT_TRUE(world.decide(Kind::resolve_as, stays, stays, {"ok", object(kInput)}));
  EXPECT_EQ(world.journal().back(), R"(act Work/note => ok {"name":"old"})");
}

// What it is to do would be dropped.
TEST(MachineDecisions, AFollowUpDoesNotMoveToAKitWithoutItsSync) {
  Desk world(kTell);
  Ulid dead = world.dead();
  ASSERT_TRUE(world.reload(""));
  EXPECT_EQ(world.decide(Kind::move, dead).error().message,
            "flow " + sluice::to_string(dead) + " is to do what sync Tell says, which this kit does not have");
  EXPECT_EQ(world.status(dead), "stuck");
}

}  // namespace machine_decisions_test
}  // namespace sluice::engine
