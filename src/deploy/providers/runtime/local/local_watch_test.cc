// What the watch asks for, with real replicas and a clock of the test's own.
#include "deploy/providers/runtime/local/local_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <boost/json.hpp>

#include "lang/run/memory_rows.h"
#include "local_runtime.gen.h"
#include "process/testing_replicas.h"

namespace sluice::deploy::local_runtime {
namespace local_watch_test {

using testing::ElementsAre;

struct LocalWatchTest : testing::Test {
  std::vector<std::string> look() { return look(watch); }
  static std::vector<std::string> look(LocalWatch& with) {
    std::vector<std::string> told;
    with.look([&](const std::string& action, const json::object& input) {
      told.push_back(action + " " + std::string(input.at("service").as_string()));
    });
    return told;
  }
  void lose(const std::string& name) {
    auto state = world.replicas.look(name);
    ASSERT_EQ(::kill(state->supervisor.pid, SIGKILL), 0);
    ASSERT_TRUE(world.gone({state->supervisor.pid}));
  }

  process::TestingReplicas world;
  process::Workload workload = world.shell("exec sleep 1000");
  ManualClock clock;
  LocalWatch watch{world.replicas, clock};
};

TEST_F(LocalWatchTest, SaysNothingWhileAllIsWell) {
  EXPECT_THAT(look(), ElementsAre()) << "there is nothing yet";
  world.settled("a.1.0", workload);
  EXPECT_THAT(look(), ElementsAre());
  EXPECT_EQ(watch.concept_name(), "LocalRuntime");
}

TEST_F(LocalWatchTest, AsksOnceForAServiceThatHasLostReplicas) {
  for (const char* name : {"a.1.0", "a.1.1", "b.1.0"}) world.settled(name, workload);
  look();
  lose("a.1.0");
  lose("a.1.1");
  EXPECT_THAT(look(), ElementsAre("LocalRuntime/repair a"));
}

TEST_F(LocalWatchTest, LetsRestWhatWasStoppedAllTogether) {
  world.settled("a.1.0", workload);
  ASSERT_TRUE(world.replicas.stop_all());
  EXPECT_THAT(look(), ElementsAre());
  EXPECT_THAT(look(), ElementsAre());
  ASSERT_TRUE(world.replicas.let_run());
  EXPECT_THAT(look(), ElementsAre("LocalRuntime/repair a"));
}

TEST_F(LocalWatchTest, AsksAgainLaterEachTime) {
  world.settled("a.1.0", workload);
  lose("a.1.0");
  const std::vector<std::string> asked{"LocalRuntime/repair a"};
  EXPECT_EQ(look(), asked);
  clock.advance_ms(1'999);
  EXPECT_THAT(look(), ElementsAre());
  clock.advance_ms(1);
  EXPECT_EQ(look(), asked);
  clock.advance_ms(3'999);
  EXPECT_THAT(look(), ElementsAre());
  clock.advance_ms(1);
  EXPECT_EQ(look(), asked);
  world.settled("a.1.0", workload);
  EXPECT_THAT(look(), ElementsAre());
  lose("a.1.0");
  EXPECT_EQ(look(), asked) << "once it has run, all begins anew";
}

TEST_F(LocalWatchTest, WhatWasStoppedCountsWhenItIsSeenTwice) {
  world.settled("a.1.0", workload);
  look();
  ASSERT_TRUE(world.replicas.stop("a.1.0"));
  EXPECT_THAT(look(), ElementsAre()) << "somebody may be about to remove it";
  EXPECT_THAT(look(), ElementsAre("LocalRuntime/repair a"));
  LocalWatch another(world.replicas, clock);
  EXPECT_THAT(look(another), ElementsAre("LocalRuntime/repair a")) << "at the first look nothing is under way";
}

// What an earlier version kept in LocalRuntime alone.
TEST_F(LocalWatchTest, TellsRuntimeWhatItDoesNotKnow) {
  lang::MemoryRows rows;
  struct Committed final : lang::Snapshot {
    explicit Committed(const lang::Rows& all) : all(all) {}
    const lang::Rows& rows_of(std::string_view) const override { return all; }
    const lang::Rows& all;
  } committed(rows);
  std::vector<std::string> told;
  auto compare = [&] {
    told.clear();
    watch.compare(committed, [&](const std::string& action, const json::object& input) {
      told.push_back(action + " " + json::serialize(input));
    });
    return told;
  };
  State state(rows);
  const LocalRuntimeId service("a");
  state.put(service, {.instance = "i", .endpoint = "http://127.0.0.1:1"});
  state.programs(service).push({.name = "a.1.0", .endpoint = "http://127.0.0.1:1"});
  EXPECT_THAT(compare(), ElementsAre()) << "Runtime has no such instance";
  rows.put("Runtime", "i", json::object{{"concept", "shop"}, {"runtimeType", "local"}, {"status", "running"}});
  state.storages().push("d-1");
  EXPECT_THAT(compare(), ElementsAre(R"(Runtime/observed {"instance":"i","endpoint":"http://127.0.0.1:1","replicas":)"
                                     R"([{"name":"a.1.0","endpoint":"http://127.0.0.1:1"}]})",
                                     R"(Runtime/stored {"storage":"d-1","runtimeType":"local"})"));
  state.edit(service, [](LocalRuntimeRecord& record) { record.busy = lang::Request("r"); });
  EXPECT_THAT(compare(), ElementsAre(testing::StartsWith("Runtime/stored"))) << "whoever is at it will answer";
}

}  // namespace local_watch_test
}  // namespace sluice::deploy::local_runtime
