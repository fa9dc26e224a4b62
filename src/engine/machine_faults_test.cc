// A machine on a store that fails, and what operators decide about flows that cannot go on: nothing is lost, nothing
// is half done, and whoever waits is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_faults_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kJob = R"(concept Job [J] {
  state {
    jobs: set J
    owner: J -> String
    count: J -> Int
  }
  actions {
    action start(job: J) {
      -> ok(job: J)
    }
    action count(job: J) {
      -> ok(job: J)
    }
    action whole(job: J) {
      runs: answered
      -> ok(job: J)
      -> no
    }
    action approve(job: J) {
      runs: answered outside
      -> ok
    }
  }
}
)";
const std::string kTool = R"(concept Tool [T] {
  actions {
    action use(job: String) {
      runs: effect
      retry: safe
      -> ok(job: String)
    }
    action once(job: String) {
      runs: effect
      -> ok(job: String)
    }
  }
}
)";
// A request, two effects, a timer, a join, a child flow.
const std::string kRules = R"(
sync Whole when { Job/start: [ job: ?j ] => ok[] } then { Job/whole: [ job: ?j ] }
sync Use when { Job/whole: [ job: ?j ] => requested } then { Tool/use: [ job: ?j ]  Tool/once: [ job: ?j ] }
sync Soak when { Tool/use: [ job: ?j ] => ok[]  Tool/once: [ job: ?j ] => ok[] } then { Timer/wait: [ name: "soak"; seconds: 3 ] }
sync Done when { Timer/wait: [] => ok[] caused by Job/whole: [ job: ?j ] => requested as ?r } then { answer ?r => ok[ job: ?j ] }
sync Later [eventual] when { Job/whole: [ job: ?j ] => ok[] } then { Job/count: [ job: ?j ] }
)";

// Counts what is counted, and in the job's own row.
void count_jobs(World& world) {
  world.on("Job/count").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
    std::string key(ask.at("job").as_string());
    auto row = rows.get("Job", key);
    int64_t count = row ? row->as_object().at("count").as_int64() : 0;
    rows.put("Job", key, json::object{{"owner", "x"}, {"count", count + 1}});
    return {"ok", ask};
  };
}

std::vector<std::string> sorted_ends(World& world) {
  std::vector<std::string> ends = world.ends();
  std::ranges::sort(ends);
  return ends;
}

TEST(Faults, EveryCommitMayFailOnceAndNothingIsLost) {
  auto run = [](int failing, std::vector<std::string>& ends, int& told) {
    World world({kJob, kTool}, kRules);
    auto store = std::make_shared<FailingStore>();
    world.store = store;
    count_jobs(world);
    world.machine();
    int before = store->commits;
    store->fails = [=](int number) { return number == before + failing; };
    std::map<std::string, int> performed;
    auto perform = [&](const json::value& work, lang::Attempt& attempt) -> lang::PerformedAction {
      ++performed[attempt.id()];
      return lang::Completion{"ok", work.as_object()};
    };
    world.on("Tool/use").perform = perform;
    world.on("Tool/once").perform = perform;
    world.limits.batch_steps = 3;
    world.restart();
    for (const char* job : {"a", "b"}) {
      std::function<void()> call = [&] {
        Call made{.action = "Job/start", .input = json::object{{"job", job}}, .caller = world.caller, .key = job};
        made.on_end = [&](const Result<Outcome>& outcome) {
          if (outcome) return;
          EXPECT_EQ(outcome.error().message, "the disk is full");
          ++told;
        };
        world.machine().call(std::move(made));
      };
      int refused = told;
      call();
      (void)world.machine().turn();
      if (told > refused) call();
    }
    for (int i = 0; i < 500; ++i) {
      auto turned = world.machine().turn();
      if (turned && *turned) continue;
      if (world.queue.run()) continue;
      if (world.machine().open_flows() == 0) break;
      world.clock.advance_ms(1000);
    }
    EXPECT_EQ(world.machine().open_flows(), 0U) << failing;
    for (const auto& [id, times] : performed) EXPECT_EQ(times, 1) << failing << " " << id;
    EXPECT_EQ(world.row("Job", "a"), R"({"owner":"x","count":1})") << failing;
    EXPECT_EQ(world.row("Job", "b"), R"({"owner":"x","count":1})") << failing;
    ends = sorted_ends(world);
    int committed = store->commits - before;
    world.restart();
    EXPECT_EQ(world.machine().open_flows(), 0U);
    return committed;
  };
  std::vector<std::string> expected;
  int told = 0;
  int commits = run(-1, expected, told);
  EXPECT_EQ(told, 0);
  EXPECT_GT(commits, 10);
  for (int failing = 1; failing <= commits; ++failing) {
    std::vector<std::string> ends;
    run(failing, ends, told);
    EXPECT_EQ(ends, expected) << failing;
  }
  EXPECT_GE(told, 2);
}

TEST(Faults, AFailedCommitRightAfterACrashForgetsNoCrash) {
  World world({kJob, kTool}, kRules);
  auto store = std::make_shared<FailingStore>();
  world.store = store;
  Ulid flow = world.start("Tool/once", R"({"job":"a"})");
  world.restart();
  store->fails = [n = store->commits](int number) { return number == n + 1; };
  EXPECT_FALSE(world.machine().turn());
  world.settle();
  EXPECT_EQ(world.queue.size(), 0U);
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_THAT(world.ends(), ElementsAre("begin Tool/once", "started Tool/once", "finish Tool/once => engine.unknown"));
}

TEST(Faults, WhileTheStoreCannotBeReadCallsAreRefusedAndLaterAllGoesOn) {
  World world({kJob, kTool}, kRules);
  auto store = std::make_shared<FailingStore>();
  world.store = store;
  count_jobs(world);
  world.start("Job/start", R"({"job":"a"})");
  store->unreadable = true;
  store->fails = [](int) { return true; };
  world.queue.run();
  EXPECT_EQ(world.machine().turn().error().message, "the disk is full");
  EXPECT_THAT(world.logged, Contains(HasSubstr("the disk does not answer")));
  EXPECT_EQ(world.machine().turn().error().message, "the disk does not answer");
  std::optional<Error> refused;
  Call call{.action = "Job/start", .input = object(R"({"job":"b"})")};
  call.on_end = [&](const Result<Outcome>& outcome) { refused = outcome.error(); };
  world.machine().call(std::move(call));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Code::unavailable);
  store->unreadable = false;
  store->fails = nullptr;
  world.settle_in_time();
  EXPECT_EQ(world.machine().open_flows(), 0U);
  EXPECT_EQ(world.row("Job", "a"), R"({"owner":"x","count":1})");
}

TEST(Faults, AFlowIsToldOfOnlyOnceItsRequestIsCommitted) {
  World world({kJob, kTool}, kRules);
  auto store = std::make_shared<FailingStore>();
  world.store = store;
  world.limits.batch_steps = 1;
  world.machine();
  std::vector<std::string> told;
  for (const char* job : {"a", "b"}) {
    Call call{.action = "Job/start", .input = json::object{{"job", job}}, .caller = world.caller, .key = job};
    call.on_start = [&told, job](const Result<Ulid>& flow) { told.push_back(std::string(job) + (flow ? "" : " no")); };
    world.machine().call(std::move(call));
  }
  // The first flow's steps come first, one a batch; the second has not begun.
  world.turn();
  EXPECT_THAT(told, ElementsAre("a"));
  Call joined{.action = "Job/start", .input = object(R"({"job":"b"})"), .caller = world.caller, .key = "b"};
  joined.on_start = [&told](const Result<Ulid>& flow) { told.push_back(flow ? "b too" : "b too no"); };
  world.machine().call(std::move(joined));
  EXPECT_THAT(told, ElementsAre("a"));
  store->fails = [](int) { return true; };
  EXPECT_FALSE(world.machine().turn());
  EXPECT_THAT(told, ElementsAre("a", "b no", "b too no"));
  store->fails = nullptr;
  world.settle_in_time();
  EXPECT_EQ(world.asked("Job/whole").size(), 1U);
}

TEST(Faults, DenialsAreCountedByMinute) {
  World world({kJob, kTool}, kRules);
  auto store = std::make_shared<FailingStore>();
  world.store = store;
  world.may = [](const Caller& caller, const std::string& action, const json::object&) -> Result<void> {
    if (caller.name == "uid:0") return {};
    return Error{.code = Code::denied, .message = caller.name + " may not call " + action};
  };
  world.machine();
  int denied = 0;
  auto knock = [&] {
    Call call{.action = "Job/start", .input = object(R"({"job":"a"})"), .caller = world.caller};
    call.on_end = [&](const Result<Outcome>& outcome) {
      EXPECT_EQ(outcome.error().code, Code::denied);
      EXPECT_EQ(outcome.error().message, "uid:1000 may not call Job/start");
      ++denied;
    };
    world.machine().call(std::move(call));
    (void)world.machine().turn();
  };
  auto counts = [&] {
    std::vector<std::string> all;
    for (const Step& step : world.steps()) {
      all.push_back(std::string(name_of(step.kind)) + " " + step.action + " " + step.caller.name + " " +
                    std::to_string(step.count));
    }
    return all;
  };
  for (int i = 0; i < 5; ++i) knock();
  EXPECT_THAT(counts(), ElementsAre("denied Job/start uid:1000 1"));
  world.pass(60);
  EXPECT_THAT(counts(), ElementsAre("denied Job/start uid:1000 1", "denied Job/start uid:1000 4"));
  world.pass(60);
  EXPECT_EQ(counts().size(), 2U);
  store->fails = [n = store->commits](int number) { return number == n + 1; };
  knock();  // its record is lost with the batch, and counted later
  EXPECT_EQ(denied, 6);
  world.pass(60);
  EXPECT_THAT(counts().back(), "denied Job/start uid:1000 1");
  EXPECT_EQ(counts().size(), 3U);
  // At the end nothing is left uncounted.
  for (int i = 0; i < 4; ++i) knock();
  EXPECT_EQ(counts().size(), 4U);
  world.machine().write_denials();
  world.turn();
  EXPECT_THAT(counts().back(), "denied Job/start uid:1000 3");
}

// ------------------------------------------------------------------------------------------------------ decisions

TEST(Decisions, CancelEndsAllThatIsOpen) {
  for (int restart_after = 0; restart_after < 3; ++restart_after) {
    World world({kJob, kTool}, kRules);
    world.limits.batch_steps = 1;
    Ulid flow = world.start("Job/start", R"({"job":"a"})");
    world.turn();
    world.turn();  // the request is open, one effect has begun, the other is queued
    ASSERT_TRUE(world.decide({.kind = Decision::Kind::cancel, .flow = flow}));
    if (restart_after == 1) world.restart();
    world.turn();
    if (restart_after == 2) world.restart();
    world.settle();
    EXPECT_EQ(world.status(flow), "failed") << restart_after;
    EXPECT_EQ(world.summary(flow)["failure"], "cancelled by uid:1000");
    std::vector<std::string> ends = world.ends();
    EXPECT_EQ(std::ranges::count(ends, "finish Job/whole => engine.cancelled"), 1) << restart_after;
    EXPECT_EQ(std::ranges::count(ends, "finish Tool/use => engine.cancelled"), 1) << restart_after;
    EXPECT_EQ(std::ranges::count(ends, "finish Tool/once => engine.cancelled"), 1) << restart_after;
    for (const Step& step : world.steps()) {
      if (step.by != "cancel") continue;
      EXPECT_EQ(step.end->maybe_done, step.action != "Tool/once") << step.action;  // that one had not begun
    }
    EXPECT_TRUE(world.machine().open_invocations().empty());
    EXPECT_EQ(world.decide({.kind = Decision::Kind::cancel, .flow = flow}).error().message,
              "flow " + sluice::to_string(flow) + " is not open");
  }
}

TEST(Decisions, ACancelledChildFlowIsNotDispatchedAgain) {
  World world({kJob, kTool},
              "sync Later [eventual] when { Job/start: [ job: ?j ] => ok[] } then { Job/count: [ job: ?j ] }");
  world.not_loaded = {};
  world.on("Job/count").act = [](const json::object&, lang::Rows&) -> lang::Completion {
    throw std::runtime_error("x");
  };
  world.start("Job/start", R"({"job":"a"})");
  world.settle();
  Ulid child = world.steps().back().flow;
  EXPECT_EQ(world.status(child), "running");
  ASSERT_TRUE(world.decide({.kind = Decision::Kind::cancel, .flow = child}));
  world.settle_in_time();
  EXPECT_EQ(world.status(child), "failed");
  EXPECT_EQ(world.machine().open_flows(), 0U);
  EXPECT_EQ(world.ends().back(), "cancel");
}

TEST(Decisions, AnOpenRequestMayBeResolved) {
  World world({kJob, kTool}, "sync Next when { Job/approve: [ job: ?j ] => ok[] } then { Job/count: [ job: ?j ] }");
  count_jobs(world);
  Ulid flow = world.start("Job/approve", R"({"job":"a"})");
  auto decided =
      world.decide({.kind = Decision::Kind::resolve_as, .flow = flow, .invocation = flow, .as = {"maybe", {}}});
  EXPECT_EQ(decided.error().message, "Job/approve has no variant maybe");
  decided = world.decide({.kind = Decision::Kind::resolve_as, .flow = flow, .invocation = flow, .as = {"ok", {}}});
  ASSERT_TRUE(decided);
  EXPECT_EQ(world.steps().at(*decided - 1).by, "operator");
  EXPECT_EQ(world.steps().at(*decided - 1).caller, world.caller);
  world.settle();
  EXPECT_EQ(world.row("Job", "a"), R"({"owner":"x","count":1})");
  EXPECT_EQ(world.status(flow), "ok");
}

TEST(Decisions, AFlowWhoseSyncsNoLongerFitStandsStillUntilItIsMoved) {
  World world({kJob, kTool}, "sync Next when { Tool/use: [ job: ?j ] => ok[] } then { Tool/once: [ job: ?j ] }");
  count_jobs(world);
  Ulid flow = world.start("Tool/use", R"({"job":"a"})");
  // A newer kit in which Tool/once takes something else.
  std::string changed = kTool;
  changed.replace(changed.find("once(job: String)"), 17, "once(tool: String)");
  world.use({kJob, changed}, "sync Next when { Tool/use: [ job: ?j ] => ok[] } then { Job/count: [ job: ?j ] }");
  world.restart();
  world.settle_in_time();
  EXPECT_EQ(world.status(flow), "stuck");
  EXPECT_THAT(std::string(world.summary(flow)["standstill"].as_string()),
              HasSubstr("its sync set does not fit the loaded concepts: "));
  auto resolved = world.decide({.kind = Decision::Kind::drop, .flow = flow});
  EXPECT_EQ(resolved.error().next, "sluice flow move " + sluice::to_string(flow) +
                                       " --to current, or sluice flow cancel " + sluice::to_string(flow));
  auto moved = world.decide({.kind = Decision::Kind::move, .flow = flow});
  ASSERT_TRUE(moved);
  EXPECT_EQ(world.steps().at(*moved - 1).kind, Step::Kind::move);
  EXPECT_EQ(world.steps().at(*moved - 1).note, world.machine().sync_set().hash());
  world.settle_in_time();
  EXPECT_EQ(world.status(flow), "ok");
  EXPECT_EQ(world.row("Job", "a"), R"({"owner":"x","count":1})");
}

TEST(Decisions, AFlowThatStandsStillMayBeCancelled) {
  World world({kJob, kTool},
              "sync Next when { Tool/use: [ job: ?j ] => ok[] } then { Timer/wait: [ name: ?j; seconds: 9 ] }");
  Ulid flow = world.start("Tool/use", R"({"job":"a"})", "key");
  std::string changed = kTool;
  changed.replace(changed.find("use(job: String)"), 16, "use(tool: String)");
  world.use({kJob, changed}, "");
  world.restart();
  world.settle_in_time();
  ASSERT_EQ(world.status(flow), "stuck");
  auto cancelled = world.decide({.kind = Decision::Kind::cancel, .flow = flow});
  ASSERT_TRUE(cancelled) << to_string(cancelled.error());
  EXPECT_EQ(world.steps().at(*cancelled - 1).kind, Step::Kind::cancel);
  EXPECT_EQ(world.steps().at(*cancelled - 1).caller.name, "uid:1000");
  EXPECT_EQ(world.status(flow), "failed");
  EXPECT_EQ(world.summary(flow)["failure"], "cancelled by uid:1000");
  world.restart();
  world.settle_in_time();
  EXPECT_EQ(world.machine().open_flows(), 0U);
  EXPECT_EQ(world.status(flow), "failed");
  // Its key still says how it ended.
  world.start("Tool/use", R"({"job":"a"})", "key");
  ASSERT_TRUE(world.ended.back()) << to_string(world.ended.back().error());
  EXPECT_EQ(world.ended.back()->end.variant, "engine.cancelled");
}

TEST(Faults, WhoWaitsForAFlowHearsAtOnceThatItCannotGoOn) {
  World world({kJob, kTool}, kRules);
  auto store = std::make_shared<FailingStore>();
  world.store = store;
  Ulid flow = world.start("Tool/use", R"({"job":"a"})");
  ASSERT_TRUE(world.ended.empty());
  ASSERT_TRUE(world.queue.run());
  store->fails = [](int) { return true; };
  EXPECT_FALSE(world.machine().turn());
  ASSERT_EQ(world.ended.size(), 1U);
  EXPECT_EQ(world.ended[0].error().code, Code::limit);
  EXPECT_EQ(world.ended[0].error().message, "the disk is full; flow " + sluice::to_string(flow) +
                                                " is kept as it was after its last step, and goes on when it can");
  EXPECT_EQ(world.ended[0].error().next, "sluice flow show " + sluice::to_string(flow));
  store->fails = nullptr;
  world.settle_in_time();
  EXPECT_EQ(world.status(flow), "ok");
}

TEST(Decisions, WhatACrashInterruptedInAFlowThatStandsStillIsNotRepeatedUnseen) {
  const std::string before = "sync Next when { Tool/once: [ job: ?j ] => ok[] } then { Job/start: [ job: ?j ] }";
  World world({kJob, kTool}, before);
  Ulid flow = world.start("Tool/once", R"({"job":"a"})");
  EXPECT_EQ(world.queue.size(), 1U);
  std::string changed = kJob;
  changed.replace(changed.find("start(job: J)"), 13, "start(jobs: J)");
  world.use({changed, kTool}, "sync Next when { Tool/once: [ job: ?j ] => ok[] } then { Job/count: [ job: ?j ] }");
  world.restart();
  world.settle();
  EXPECT_EQ(world.status(flow), "stuck");
  EXPECT_EQ(world.queue.size(), 0U);
  ASSERT_TRUE(world.decide({.kind = Decision::Kind::move, .flow = flow}));
  world.settle();
  EXPECT_EQ(world.ends().back(), "finish Tool/once => engine.unknown");
}

TEST(Decisions, MovingKeepsWhatIsUnderWay) {
  World world({kJob, kTool}, kRules);
  count_jobs(world);
  Ulid flow = world.start("Job/start", R"({"job":"a"})");
  EXPECT_EQ(world.queue.size(), 2U);
  ASSERT_TRUE(world.reload(
      R"(sync Done when { Tool/use: [] => ok[] caused by Job/whole: [ job: ?j ] => requested as ?r } then { answer ?r => ok[ job: ?j ] }
)"));
  ASSERT_TRUE(world.decide({.kind = Decision::Kind::move, .flow = flow}));
  EXPECT_EQ(world.queue.size(), 2U);  // nothing is tried twice
  world.settle();
  EXPECT_EQ(world.status(flow), "ok");
  EXPECT_EQ(world.step_of("Job/whole").end->variant, "ok");
}

TEST(Decisions, NewRulesWithOtherConceptsNeedARestart) {
  World world({kJob, kTool}, kRules);
  world.machine();
  auto other = checked({kJob}, "sync S when { Job/start: [ job: ?j ] => ok[] } then { Job/count: [ job: ?j ] }");
  auto loaded = world.machine().load(other);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "the new kit has other concepts than the one that runs");
}

TEST(FirstWeek26, AfterAFailedSyncTheOutcomeIsNotKnown) {
  World world({kJob, kTool}, "");
  auto failing = std::make_shared<FailingStore>();
  world.store = failing;
  Call call{.action = "Job/start", .input = {{"job", "j"}}, .caller = world.caller};
  call.on_end = [&](const Result<Outcome>& outcome) { world.ended.push_back(outcome); };
  world.machine().call(std::move(call));
  failing->fails = [](int) { return true; };
  failing->broken_by = Error{.message = "cannot sync store.db-wal: Input/output error"};
  EXPECT_FALSE(world.machine().turn());
  ASSERT_EQ(world.ended.size(), 1U);
  EXPECT_EQ(world.ended[0].error().code, Code::timeout);
  EXPECT_THAT(world.ended[0].error().message, HasSubstr("whether this was committed is not known: "));
}

}  // namespace machine_faults_test
}  // namespace sluice::engine
