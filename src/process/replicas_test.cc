// Replicas as their controller sees them, with real supervisors and programs.
#include "process/replicas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include "process/supervisor.h"
#include "process/testing_replicas.h"

namespace sluice::process {
namespace replicas_test {

using testing::ElementsAre;
using testing::HasSubstr;

struct ReplicasTest : testing::Test {
  TestingReplicas world;
  Replicas& replicas = world.replicas;
};

TEST_F(ReplicasTest, AStartedReplicaIsHealthyAndSays) {
  ReplicaState state = world.settled("one", world.shell("echo hello; echo oops >&2; exec sleep 1000"));
  EXPECT_EQ(state.phase, Phase::running) << state.message;
  EXPECT_TRUE(state.healthy);
  ASSERT_TRUE(state.program);
  EXPECT_TRUE(*is_running(identity_of(*state.program)));
  EXPECT_TRUE(replicas.stop("one"));
  EXPECT_THAT(world.said("one"), testing::UnorderedElementsAre("out hello", "err oops"));
  EXPECT_FALSE(*is_running(identity_of(*state.program)));
  EXPECT_FALSE(*is_running(identity_of(state.supervisor)));
  EXPECT_EQ(replicas.look("one")->phase, Phase::stopped);
}

TEST_F(ReplicasTest, StartingAgainFindsTheOneThatRuns) {
  Workload workload = world.shell("exec sleep 1000");
  ReplicaState first = world.settled("one", workload);
  Replicas restarted(world.disk, world.clock, world.random,
                     {.folder = world.folder.path("replicas"), .supervisor = {"/nonexistent"}});
  ASSERT_TRUE(restarted.start("one", workload, {}));
  EXPECT_EQ(*restarted.look("one"), first);
  workload.environment["COLOR"] = "blue";
  EXPECT_EQ(restarted.start("one", workload, {}).error().message, "one runs with other settings");
  EXPECT_THAT(*restarted.list(), ElementsAre("one"));
  EXPECT_TRUE(restarted.stop("one"));
  EXPECT_FALSE(*is_running(identity_of(*first.program)));
}

TEST_F(ReplicasTest, AHealthyServerAnswersOnItsSocketOrItsPort) {
  EXPECT_EQ(world.settled("socket", world.server()).phase, Phase::running);
  Workload workload = world.server();
  workload.port = *free_port();
  EXPECT_EQ(world.settled("port", workload).phase, Phase::running);
}

TEST_F(ReplicasTest, StoppedReplicasCanBeStartedAgain) {
  Workload workload = world.shell("echo $$; exec sleep 1000");
  world.settled("one", workload);
  ASSERT_TRUE(replicas.stop("one"));
  ASSERT_TRUE(replicas.stop("one")) << "again is harmless";
  EXPECT_EQ(world.settled("one", workload).phase, Phase::running);
  EXPECT_EQ(world.said("one").size(), 2U);
}

TEST_F(ReplicasTest, RemovingLeavesNothing) {
  ReplicaState state = world.settled("one", world.shell("exec sleep 1000"));
  ASSERT_TRUE(replicas.remove("one"));
  EXPECT_FALSE(*is_running(identity_of(*state.program)));
  EXPECT_EQ(replicas.look("one").error().message, "there is no replica one");
  EXPECT_THAT(*replicas.list(), ElementsAre());
  EXPECT_THAT(*world.disk.list(world.folder.path("replicas")), ElementsAre());
  EXPECT_TRUE(replicas.remove("one"));
}

TEST_F(ReplicasTest, AKilledSupervisorTakesItsProgramAlongAndIsLost) {
  const std::string noted = world.folder.path("replicas/one/run/pids");
  Workload workload = world.shell(
      "setsid sh -c 'echo $$ >>$HOME/pids; exec sleep 1000' & echo $$ >>$HOME/pids; "
      "while [ $(wc -l <$HOME/pids) != 2 ]; do sleep 0.01; done; echo ready; exec sleep 1000");
  ReplicaState state = world.settled("one", workload);
  while (world.said("one").empty()) world.clock.sleep_ms(5);
  std::vector<int> pids = world.pids(noted);
  ASSERT_EQ(pids.size(), 2U);
  ASSERT_EQ(::kill(state.supervisor.pid, SIGKILL), 0);
  EXPECT_TRUE(world.gone({state.supervisor.pid, state.program->pid}));
  ReplicaState lost = *replicas.look("one");
  EXPECT_EQ(lost.phase, Phase::lost);
  EXPECT_EQ(lost.message, "its supervisor was killed, and the program with it");
  EXPECT_TRUE(replicas.stop("one"));
  EXPECT_TRUE(world.gone(pids)) << "the one that left the group, too";
  EXPECT_EQ(replicas.look("one")->message, "stopped; its supervisor had been killed");
}

TEST_F(ReplicasTest, ALostReplicaIsStartedAgainWithoutWhatItLeftBehind) {
  const std::string noted = world.folder.path("replicas/one/run/pids");
  Workload workload = world.shell("setsid sh -c 'echo $$ >>$HOME/pids; exec sleep 1000' & exec sleep 1000");
  ReplicaState state = world.settled("one", workload);
  while (world.pids(noted).empty()) world.clock.sleep_ms(5);
  int away = world.pids(noted).front();
  ASSERT_EQ(::kill(state.supervisor.pid, SIGKILL), 0);
  ASSERT_TRUE(world.gone({state.supervisor.pid}));
  ReplicaState again = world.settled("one", workload);
  EXPECT_EQ(again.phase, Phase::running);
  EXPECT_NE(again.start, state.start);
  EXPECT_TRUE(world.gone({away}));
}

TEST_F(ReplicasTest, APidThatAnotherHasNowIsNotTouched) {
  ReplicaState state = world.settled("one", world.shell("exec sleep 1000"));
  ASSERT_TRUE(replicas.stop("one"));
  // As if the supervisor had been killed and its pid were this process's now.
  const ReplicaFiles files(world.folder.path("replicas/one"));
  state.supervisor.pid = ::getpid();
  ASSERT_TRUE(replace_file(files.state, print_state(state), 0600));
  EXPECT_EQ(replicas.look("one")->phase, Phase::lost);
  EXPECT_TRUE(replicas.stop("one"));
}

TEST_F(ReplicasTest, RefusesWhatCannotBeAReplica) {
  Workload workload = world.shell("");
  EXPECT_EQ(replicas.start("../x", workload, {}).error().code, Code::invalid);
  EXPECT_EQ(replicas.start("", workload, {}).error().code, Code::invalid);
  workload.argv.clear();
  EXPECT_EQ(replicas.start("one", workload, {}).error().message, "there is no program to run");
  EXPECT_EQ(replicas.start(std::string(100, 'x'), world.shell(""), {}).error().next,
            "use a home with a shorter path, or let the program listen on a port");
  EXPECT_THAT(*replicas.list(), ElementsAre());
  EXPECT_TRUE(replicas.stop("none"));
}

TEST_F(ReplicasTest, WaitingEndsWhenItsTimeIsUpOrNobodyWantsToKnow) {
  world.settled("one", world.shell("exec sleep 1000"));
  auto never = [](const ReplicaState&) { return false; };
  EXPECT_EQ(replicas.await("one", never, 20, {}).error().code, Code::timeout);
  EXPECT_EQ(replicas.await("one", never, kTestDeadline_ms, [] { return true; }).error().message,
            "nobody waits for one any more");
  EXPECT_EQ(replicas.await("none", never, 20, {}).error().code, Code::not_found);
}

}  // namespace replicas_test
}  // namespace sluice::process
