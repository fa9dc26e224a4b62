// Reading flows back: after a restart with other rules, with other concepts, and after commits that failed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_recovery_test {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = Decision::Kind;

const std::string kWork = R"(concept Work [W] {
  state {
    works: set W
    phase: W -> String
  }
  actions {
    action hold(name: String) {
      runs: answered outside
      -> ok(name: String)
    }
    action run(name: String) {
      runs: answered
      -> ok(name: String)
    }
    action fetch(name: String) {
      runs: effect
      retry: safe
      -> ok(name: String)
    }
    action once(name: String) {
      runs: effect
      -> ok(name: String)
    }
    action note(name: String) {
      -> ok(name: String)
    }
  }
}
)";
const std::string kExtra = "concept Extra [E] { actions { action act(name: String) { -> ok(name: String) } } }";
const std::string kInput = R"({"name":"a"})";

std::string after(const std::string& name) {
  return "sync After when { Work/hold: [] => ok[] } then { Work/note: [ name: \"" + name + "\" ] }\n";
}

void decide(World& world, Kind kind, const Ulid& flow) {
  world.machine().decide(
      {.kind = kind,
       .flow = flow,
       .invocation = flow,
       .as = {"ok", object(kInput)},
       .on_done = [](const Result<uint64_t>& done) { EXPECT_TRUE(done) << (done ? "" : to_string(done.error())); }});
  world.settle();
}

TEST(MachineRecovery, FlowsGoOnUnderTheRulesThatTheyBeganWith) {
  World world({kWork}, after("old"));
  Ulid flow = world.start("Work/hold", kInput);
  world.load(after("new"));
  world.restart();
  Ulid later = world.start("Work/hold", kInput);
  decide(world, Kind::resolve_as, flow);
  EXPECT_EQ(world.journal().back(), R"(act Work/note => ok {"name":"old"})");
  decide(world, Kind::resolve_as, later);
  EXPECT_EQ(world.journal().back(), R"(act Work/note => ok {"name":"new"})");
}

TEST(MachineRecovery, AFlowWhoseRulesDoNotFitStandsStillUntilItIsMoved) {
  World world({kWork, kExtra}, after("old") + R"(
sync More when { Work/hold: [ name: ?n ] => ok[] } then { Extra/act: [ name: ?n ] }
)");
  Ulid flow = world.start("Work/hold", kInput);
  world.use({kWork}, after("new"));
  world.restart();
  ASSERT_EQ(world.logged.size(), 1U);
  EXPECT_THAT(world.logged[0], HasSubstr("flow " + sluice::to_string(flow) +
                                         " stands still: its sync set does not fit the loaded concepts: "));
  EXPECT_THAT(world.logged[0], HasSubstr("Extra"));
  world.settle();
  EXPECT_EQ(world.status(flow), "stuck");
  EXPECT_THAT(std::string(world.summary(flow)["standstill"].as_string()), HasSubstr("does not fit"));

  decide(world, Kind::move, flow);
  EXPECT_EQ(world.status(flow), "waiting");
  EXPECT_FALSE(world.summary(flow).contains("standstill"));
  decide(world, Kind::resolve_as, flow);
  EXPECT_EQ(world.journal().back(), R"(act Work/note => ok {"name":"new"})");
  EXPECT_EQ(world.status(flow), "ok");
}

TEST(MachineRecovery, TimeNeverGoesBack) {
  World world({kWork}, after("x"));
  world.clock.advance_ms(60'000);
  world.run("Work/note", kInput);
  int64_t at_ms = world.steps()[0].at_ms;
  world.stop();
  world.clock.set_wall_ms(at_ms - 30'000);
  world.run("Work/note", kInput);
  EXPECT_EQ(world.steps()[1].at_ms, at_ms);
}

TEST(MachineRecovery, AnEffectThatHadNotStartedRuns) {
  World world({kWork}, after("x"));
  world.limits.effect_threads = 0;
  Ulid flow = world.start("Work/once", kInput);
  EXPECT_THAT(world.journal(), ElementsAre("begin Work/once"));
  world.limits.effect_threads = 1;
  world.restart();
  world.settle();
  EXPECT_EQ(world.status(flow), "ok");
}

// A machine whose store may fail.
struct Fragile : World {
  explicit Fragile(const std::string& rules) : World({kWork}, rules) {
    store = failing;
    limits.batch_steps = 1;
    on("Work/fetch").perform = [this](const json::value& work, lang::Attempt&) -> lang::PerformedAction {
      ++performed;
      return lang::Completion{"ok", work.as_object()};
    };
    on("Work/note").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
      auto row = rows.get("Work", "w");
      std::string phase = row ? std::string(row->at("phase").as_string()) : "";
      rows.put("Work", "w", json::object{{"phase", phase + "x"}});
      return {"ok", ask};
    };
  }
  // The n-th commit from now fails, counted from 1.
  void fail_commit(int n) {
    failing->fails = [which = failing->commits + n](int number) { return number == which; };
  }
  // Calls until the call is taken, and goes on whatever fails. How often a turn failed.
  int run_on(const std::string& action) {
    int failures = 0;
    bool taken = false;
    for (int i = 0; i < 100; ++i) {
      if (!taken) {
        Call call{.action = action, .input = object(kInput), .caller = caller};
        call.on_start = [&](const Result<Ulid>& started) { taken = started.has_value(); };
        machine().call(std::move(call));
      }
      auto turned = machine().turn();
      failures += turned ? 0 : 1;
      if (turned && !*turned && !queue.run() && machine().open_flows() == 0) break;
    }
    return failures;
  }
  std::shared_ptr<FailingStore> failing = std::make_shared<FailingStore>();
  int performed = 0;
};

const std::string kRunning = R"(
sync Begin when { Work/run: [ name: ?n ] => requested } then { Work/note: [ name: ?n ] }
sync Fetch when { Work/note: [ name: ?n ] => ok[] caused by Work/run: [] => requested } then { Work/fetch: [ name: ?n ] }
sync Done when { Work/fetch: [ name: ?n ] => ok[] caused by Work/run: [] => requested as ?r }
          then { answer ?r => ok[ name: ?n ] }
)";

TEST(MachineRecovery, ACommitThatFailsAtAnyPointChangesNothingInTheEnd) {
  Fragile plain(kRunning);
  EXPECT_EQ(plain.run_on("Work/run"), 0);
  std::vector<std::string> expected = plain.journal();
  ASSERT_EQ(expected.size(), 5U);
  for (int n = 1; n <= 5; ++n) {
    Fragile world(kRunning);
    world.machine();
    world.fail_commit(n);
    EXPECT_EQ(world.run_on("Work/run"), 1) << n;
    EXPECT_EQ(world.journal(), expected) << n;
    EXPECT_EQ(world.performed, 1) << n;
    EXPECT_EQ(world.row("Work", "w"), R"({"phase":"x"})") << n;
    EXPECT_EQ(world.machine().attempts_under_way(), 0U);
  }
}

TEST(MachineRecovery, CallersOfABatchThatFailedAreTold) {
  Fragile world(kRunning);
  world.machine();
  world.fail_commit(1);
  std::vector<std::string> told;
  Call call{.action = "Work/fetch", .input = object(kInput), .caller = world.caller};
  call.on_start = [&](const Result<Ulid>& started) { told.push_back("start: " + started.error().message); };
  call.on_end = [&](const Result<Outcome>& outcome) { told.push_back("end: " + outcome.error().message); };
  world.machine().call(std::move(call));
  auto turned = world.machine().turn();
  ASSERT_FALSE(turned);
  EXPECT_EQ(turned.error().code, Code::limit);
  EXPECT_THAT(told, ElementsAre("start: the disk is full", "end: the disk is full"));
  EXPECT_EQ(world.machine().open_flows(), 0U);
  EXPECT_EQ(world.queue.size(), 0U);  // nothing left the machine
  EXPECT_EQ(world.journal().size(), 0U);
  EXPECT_EQ(world.run("Work/fetch", kInput).position, 2U);
}

TEST(MachineRecovery, ACallerHearsWhenALaterCommitFailsAndTheFlowGoesOn) {
  Fragile world(kRunning);
  Ulid flow = world.start("Work/fetch", kInput);
  EXPECT_TRUE(world.queue.run());
  world.fail_commit(1);
  EXPECT_FALSE(world.machine().turn());
  ASSERT_EQ(world.ended.size(), 1U);
  ASSERT_FALSE(world.ended[0]);
  EXPECT_THAT(world.ended[0].error().message, HasSubstr("is kept as it was after its last step"));
  EXPECT_EQ(world.ended[0].error().next, "sluice flow show " + to_string(flow));
  world.settle();
  EXPECT_EQ(world.ended.size(), 1U);
  EXPECT_EQ(world.status(flow), "ok");
  EXPECT_EQ(world.performed, 1);
}

TEST(MachineRecovery, AStoreThatCannotBeReadFailsTheBatch) {
  Fragile world(kRunning);
  world.machine();
  std::string told;
  Call call{.action = "Work/note", .input = object(kInput), .caller = world.caller};
  call.on_end = [&](const Result<Outcome>& outcome) { told = outcome ? "done" : outcome.error().message; };
  world.machine().call(std::move(call));
  world.failing->unreadable = true;
  auto turned = world.machine().turn();
  ASSERT_FALSE(turned);
  EXPECT_EQ(turned.error().message, "the disk does not answer");
  EXPECT_EQ(told, "the disk does not answer");
  EXPECT_THAT(world.logged.back(), HasSubstr("after a failed commit the store cannot be read"));
  EXPECT_FALSE(world.try_restart());
  world.failing->unreadable = false;
  world.restart();
  EXPECT_EQ(world.run("Work/note", kInput).position, 1U);
}

}  // namespace machine_recovery_test
}  // namespace sluice::engine
