// What steps do to their flow: scopes that end, timers, answers that come late, cascades and their limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_apply_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const std::string kJob = R"(concept Job [J] {
  actions {
    action run(name: String) {
      runs: answered
      -> ok(name: String)
      -> no(name: String)
    }
    action hold(name: String) {
      runs: answered outside
      -> ok(name: String)
    }
    action fetch(name: String) {
      runs: effect
      retry: safe
      -> ok(name: String)
    }
    action count(n: Int) {
      -> ok(n: Int)
      -> enough(n: Int)
    }
    action echo(n: Int) {
      -> ok(n: Int)
    }
    action send(n: Int) {
      runs: effect
      retry: safe
      -> ok(n: Int)
    }
  }
}
)";
const std::string kInput = R"({"name":"a"})";

std::vector<Ulid> timers(World& world) {
  std::vector<Ulid> timers;
  auto snapshot = world.store->read();
  EXPECT_TRUE((*snapshot)->timers([&](const store::TimerRow& row) {
    timers.push_back(row.invocation);
    return true;
  }));
  return timers;
}

TEST(MachineApply, ASecondWaitOfTheSameNameSupersedesTheFirst) {
  World world({kJob}, R"(
sync Fetch when { Job/run: [ name: ?n ] => requested } then { Job/fetch: [ name: ?n ] }
sync Soak when { Job/run: [] => requested }
          then { Timer/wait: [ name: "soak"; seconds: 30 ] Timer/wait: [ name: "other"; seconds: 200 ] }
sync Longer when { Job/fetch: [] => ok[] } then { Timer/wait: [ name: "soak"; seconds: 60 ] }
sync Done when { Timer/wait: [ name: "soak" ] => ok[] caused by Job/run: [ name: ?n ] => requested as ?r }
          then { answer ?r => ok[ name: ?n ] }
)");
  Ulid flow = world.start("Job/run", kInput);
  world.settle();
  EXPECT_THAT(world.journal(), ElementsAre("begin Job/run", "begin Job/fetch", "begin Timer/wait", "begin Timer/wait",
                                           R"(finish Job/fetch => ok {"name":"a"} by effect)", "begin Timer/wait",
                                           "finish Timer/wait => superseded by superseded"));
  EXPECT_EQ(world.steps()[6].invocation, world.steps()[2].invocation);
  EXPECT_THAT(timers(world), ElementsAre(world.steps()[5].invocation, world.steps()[3].invocation));
  world.pass(59);
  EXPECT_EQ(world.status(flow), "waiting");
  world.pass(1);
  EXPECT_EQ(world.status(flow), "ok");
  EXPECT_THAT(timers(world), IsEmpty());
}

// `run` is answered as soon as the fetch of "a" is done; a timer, a request and the fetch of "b" are open then.
const std::string kScope = R"(
sync Begin when { Job/run: [ name: ?n ] => requested }
           then { Job/fetch: [ name: ?n ] Job/fetch: [ name: "b" ] Job/hold: [ name: "c" ]
                  Timer/wait: [ name: "t"; seconds: 60 ] }
sync Done when { Job/fetch: [ name: "a" ] => ok[] caused by Job/run: [] => requested as ?r }
          then { answer ?r => ok[ name: "done" ] }
)";

TEST(MachineApply, WhatIsOpenBeneathARequestEndsWithIt) {
  World world({kJob}, kScope);
  bool wanted = true;
  world.on("Job/fetch").perform = [&](const json::value& work, lang::Attempt& attempt) -> lang::PerformedAction {
    if (work.at("name") == "b") wanted = !attempt.cancelled();
    return lang::Completion{"ok", work.as_object()};
  };
  Ulid flow = world.start("Job/run", kInput);
  world.queue.run();
  world.turn();
  std::vector<std::string> journal = world.journal();
  ASSERT_EQ(journal.size(), 9U);
  EXPECT_THAT(std::vector<std::string>(journal.begin(), journal.begin() + 7),
              ElementsAre("begin Job/run", "begin Job/fetch", "begin Job/fetch", "begin Job/hold", "begin Timer/wait",
                          R"(finish Job/fetch => ok {"name":"a"} by effect)",
                          R"(finish Job/run => ok {"name":"done"} by answer)"));
  const std::string cancelled = R"( => engine.cancelled {"message":"what it is part of has ended"} maybe by cancel)";
  EXPECT_THAT(std::vector<std::string>(journal.begin() + 7, journal.end()),
              UnorderedElementsAre("finish Job/hold" + cancelled, "finish Timer/wait" + cancelled));
  EXPECT_THAT(timers(world), IsEmpty());
  EXPECT_EQ(world.status(flow), "running");
  world.settle();
  EXPECT_FALSE(wanted);
  EXPECT_EQ(world.journal().back(), R"(finish Job/fetch => ok {"name":"b"} by effect)");
}

TEST(MachineApply, WhatFollowsFromAnEffectThatOutlivedItsRequestOpensNothing) {
  World world({kJob}, kScope + R"(
sync After when { Job/fetch: [ name: "b" ] => ok[] }
           then { Timer/wait: [ name: "late"; seconds: 60 ] Job/hold: [ name: "d" ] Job/echo: [ n: 1 ] }
)");
  world.start("Job/run", kInput);
  world.settle();
  std::vector<std::string> journal = world.journal();
  ASSERT_EQ(journal.size(), 13U);
  EXPECT_THAT(std::vector<std::string>(journal.begin() + 9, journal.end()),
              ElementsAre(R"(finish Job/fetch => ok {"name":"b"} by effect)",
                          R"(begin Timer/wait => engine.cancelled {"message":"what it is part of has ended"})",
                          R"(begin Job/hold => engine.cancelled {"message":"what it is part of has ended"})",
                          R"(act Job/echo => ok {"n":1})"));
  EXPECT_THAT(timers(world), IsEmpty());
  EXPECT_EQ(world.machine().open_flows(), 0U);
}

TEST(MachineApply, TheFirstAnswerWinsAndLaterOnesAreRecorded) {
  World world({kJob}, R"(
sync Fetch when { Job/run: [ name: ?n ] => requested } then { Job/fetch: [ name: ?n ] }
sync First when { Job/fetch: [] => ok[] caused by Job/run: [] => requested as ?r } then { answer ?r => ok[ name: "1" ] }
sync Second when { Job/fetch: [] => ok[] caused by Job/run: [] => requested as ?r }
            then { answer ?r => no[ name: "2" ] }
sync Hear when { Job/run: [] => no[] } then { Job/echo: [ n: 2 ] }
)");
  EXPECT_EQ(world.run("Job/run", kInput).end, (End{"ok", object(R"({"name":"1"})"), false}));
  EXPECT_THAT(world.journal(),
              ElementsAre("begin Job/run", "begin Job/fetch", R"(finish Job/fetch => ok {"name":"a"} by effect)",
                          R"(finish Job/run => ok {"name":"1"} by answer)", R"(late => no {"name":"2"} by answer)"));
  EXPECT_EQ(world.status(world.steps()[0].flow), "ok");
}

// Counts on as long as the handler says ok.
const std::string kCounting = "sync Next when { Job/count: [] => ok[ n: ?n ] } then { Job/count: [ n: ?n ] }";

void count_to(World& world, int64_t last) {
  world.on("Job/count").act = [last](const json::object& ask, lang::Rows&) -> lang::Completion {
    int64_t n = ask.at("n").as_int64();
    return {n < last ? "ok" : "enough", json::object{{"n", n + 1}}};
  };
}

TEST(MachineApply, ACascadeEndsAtItsLimit) {
  World world({kJob}, kCounting);
  world.limits.cascade_actions = 5;
  count_to(world, 100);
  Ulid flow = world.run("Job/count", R"({"n":1})").flow;
  std::vector<std::string> journal = world.journal();
  ASSERT_EQ(journal.size(), 6U);
  EXPECT_EQ(journal[4], R"(act Job/count => ok {"n":6})");
  EXPECT_EQ(journal[5], R"(act Job/count => engine.limit {"message":"more than 5 actions follow from one event"})");
  EXPECT_EQ(world.summary(flow)["failure"], "Job/count => engine.limit");
}

TEST(MachineApply, AFlowEndsAtItsLimit) {
  World world({kJob}, kCounting);
  world.limits.flow_actions = 3;
  count_to(world, 100);
  world.run("Job/count", R"({"n":1})");
  EXPECT_EQ(world.journal().size(), 4U);
  EXPECT_EQ(world.journal().back(), R"(act Job/count => engine.limit {"message":"the flow has more than 3 actions"})");
}

TEST(MachineApply, AnEffectsResultBeginsACascadeOfItsOwn) {
  World world({kJob}, R"(
sync Send when { Job/count: [] => ok[ n: ?n ] } then { Job/send: [ n: ?n ] }
sync Next when { Job/send: [ n: ?n ] => ok[] } then { Job/count: [ n: ?n ] }
)");
  world.limits.cascade_actions = 2;
  count_to(world, 10);
  world.run("Job/count", R"({"n":1})");
  EXPECT_EQ(world.journal().back(), R"(act Job/count => enough {"n":11})");
}

TEST(MachineApply, ACycleIsFoundUnlessASyncSaysLoop) {
  for (bool loop : {false, true}) {
    World world({kJob}, "sync There " + std::string(loop ? "[loop] " : "") + R"(
  when { Job/count: [ n: ?n ] => ok[] } then { Job/echo: [ n: ?n ] }
sync Back when { Job/echo: [ n: ?n ] => ok[] } then { Job/count: [ n: ?n ] }
)");
    int counted = 0;
    world.on("Job/count").act = [&](const json::object& ask, lang::Rows&) -> lang::Completion {
      return {++counted < 10 ? "ok" : "enough", ask};
    };
    world.run("Job/count", R"({"n":1})");
    EXPECT_EQ(counted, loop ? 10 : 2);
    EXPECT_EQ(world.journal().back(),
              loop ? R"(act Job/count => enough {"n":1})"
                   : R"(act Job/echo => engine.limit {"message":"a cycle: There → Back → There"})");
  }
}

}  // namespace machine_apply_test
}  // namespace sluice::engine
