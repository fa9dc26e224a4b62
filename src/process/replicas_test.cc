// Replicas as their controller sees them, with real supervisors and programs.
#include "process/replicas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/testing_wait.h"
#include "process/port.h"
#include "process/replica_files.h"
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
  EXPECT_TRUE(eventually([&] { return world.said("one").size() == 2; }));
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
  EXPECT_EQ(restarted.workload("one")->environment.count("COLOR"), 0U);
  EXPECT_EQ(restarted.workload("none").error().code, Code::not_found);
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
  ASSERT_TRUE(eventually([&] { return world.said("one").size() == 1; }));
  ASSERT_TRUE(replicas.stop("one"));
  ASSERT_TRUE(replicas.stop("one")) << "again is harmless";
  EXPECT_EQ(world.settled("one", workload).phase, Phase::running);
  EXPECT_TRUE(eventually([&] { return world.said("one").size() == 2; }));
}

TEST_F(ReplicasTest, AllAreStoppedTogetherAndAreToRest) {
  for (const char* name : {"a.1.0", "b.1.0"}) world.settled(name, world.shell("exec sleep 1000"));
  ASSERT_TRUE(replicas.stop("b.1.0"));
  EXPECT_FALSE(replicas.are_to_rest());
  EXPECT_EQ(replicas.stop_all().value(), 1U) << "the other did not run";
  EXPECT_EQ(replicas.look("a.1.0")->phase, Phase::stopped);
  EXPECT_TRUE(replicas.are_to_rest());
  EXPECT_THAT(replicas.list().value(), ElementsAre("a.1.0", "b.1.0"));
  EXPECT_EQ(replicas.stop_all().value(), 0U);
  EXPECT_TRUE(replicas.let_run());
  EXPECT_TRUE(replicas.let_run());
  EXPECT_FALSE(replicas.are_to_rest());
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

TEST_F(ReplicasTest, FirstWeek11LogsOfWhatWasRemovedAreKept) {
  Workload work = world.shell("echo I am $SLUICE_REVISION; exec sleep 1000");
  work.environment["SLUICE_REVISION"] = "r1";
  world.settled("one", work);
  ASSERT_TRUE(eventually([&] { return !world.said("one").empty(); }));
  ASSERT_TRUE(replicas.remove("one"));
  std::vector<KeptLog> kept = replicas.kept_logs();
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].replica, "one");
  EXPECT_EQ(kept[0].of, "r1");
  auto lines = last_log_lines(world.disk, kept[0].folder, 100);
  ASSERT_TRUE(lines) << to_string(lines.error());
  EXPECT_TRUE(std::ranges::any_of(*lines, [](const LogLine& line) { return line.text == "I am r1"; }));
  world.settled("one", work);
  ASSERT_TRUE(replicas.remove("one"));
  EXPECT_EQ(replicas.kept_logs().size(), 1U) << "of one name the newest";
}

TEST_F(ReplicasTest, AnInterruptedRemovalIsEndedByTheNext) {
  for (const char* name : {".removed-a.1.0", ".removed-b.1.0"}) {
    ASSERT_TRUE(world.disk.make_folder(world.folder.path(std::string("replicas/") + name), 0755));
  }
  replicas.sweep("a.");
  EXPECT_FALSE(*world.disk.exists(world.folder.path("replicas/.removed-a.1.0")));
  EXPECT_TRUE(*world.disk.exists(world.folder.path("replicas/.removed-b.1.0"))) << "that one may be under way";
}

TEST_F(ReplicasTest, AStartThatWasInterruptedBeforeItsLaunchWasWrittenLeavesNothing) {
  world.settled("a.1.1", world.shell("exec sleep 1000"));
  for (const char* name : {"a.1.2", "b.1.1"}) {
    ASSERT_TRUE(world.disk.make_folder(world.folder.path(std::string("replicas/") + name), 0755));
  }
  replicas.sweep("a.");
  EXPECT_EQ(replicas.look("a.1.1")->phase, Phase::running);
  EXPECT_FALSE(*world.disk.exists(world.folder.path("replicas/a.1.2")));
  EXPECT_TRUE(*world.disk.exists(world.folder.path("replicas/b.1.1"))) << "that one may be under way";
}

TEST_F(ReplicasTest, AKilledSupervisorTakesItsProgramAlongAndIsLost) {
  const std::string noted = world.folder.path("replicas/one/run/pids");
  Workload workload = world.shell(
      "setsid sh -c 'echo $$ >>$HOME/pids; exec sleep 1000' & echo $$ >>$HOME/pids; "
      "while [ $(wc -l <$HOME/pids) != 2 ]; do sleep 0.01; done; echo ready; exec sleep 1000");
  ReplicaState state = world.settled("one", workload);
  ASSERT_TRUE(eventually([&] { return !world.said("one").empty(); }));
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
  ASSERT_TRUE(eventually([&] { return !world.pids(noted).empty(); }));
  int away = world.pids(noted).front();
  ASSERT_EQ(::kill(state.supervisor.pid, SIGKILL), 0);
  ASSERT_TRUE(world.gone({state.supervisor.pid}));
  ReplicaState again = world.settled("one", workload);
  EXPECT_EQ(again.phase, Phase::running) << again.message;
  EXPECT_NE(again.start, state.start);
  EXPECT_TRUE(world.gone({away}));
}

TEST_F(ReplicasTest, APidThatAnotherHasNowIsNotTouched) {
  ReplicaState state = world.settled("one", world.shell("exec sleep 1000"));
  ASSERT_TRUE(replicas.stop("one"));
  // As if the supervisor had been killed and its pid were this process's now.
  const ReplicaFiles files(world.folder.path("replicas/one"));
  state.supervisor.pid = ::getpid();
  state.supervisor.start_ticks++;  // the two may have begun in the same tick
  ASSERT_TRUE(replace_file(files.state, print_state(state), 0600));
  EXPECT_EQ(replicas.look("one")->phase, Phase::lost);
  EXPECT_TRUE(replicas.stop("one"));
}

// A small disk of this test's own, in a mount namespace that ends with the test program.
bool mount_small_disk(const std::string& folder) {
  // Without root in a user namespace, in which this user may mount.
  const std::string user = std::to_string(::geteuid()), group = std::to_string(::getegid());
  if (::geteuid() != 0 && (::unshare(CLONE_NEWUSER) != 0 || !write_control("/proc/self/setgroups", "deny") ||
                           !write_control("/proc/self/uid_map", user + " " + user + " 1") ||
                           !write_control("/proc/self/gid_map", group + " " + group + " 1"))) {
    return false;
  }
  return take_own_mounts() == 0 && ::mount("none", folder.c_str(), "tmpfs", 0, "size=4m,mode=755") == 0;
}

// How often a process has called write.
int64_t written_by(int pid) {
  std::ifstream io("/proc/" + std::to_string(pid) + "/io");
  std::string name;
  int64_t number = 0;
  while (io >> name >> number) {
    if (name == "syscw:") return number;
  }
  return 0;
}

TEST_F(ReplicasTest, AFullDiskIsNamedAndWhatRunsGoesOn) {
  const std::string disk = world.folder.path("replicas");
  ASSERT_TRUE(mount_small_disk(disk)) << "it needs root, or user namespaces";
  Workload chatty = world.shell("while :; do printf '%03000d\\n' 0; sleep 0.03; done");
  chatty.log = {.file_bytes = 1 << 20, .files = 2};
  ReplicaState good = world.settled("good", chatty);
  ASSERT_EQ(good.phase, Phase::running) << good.message;
  {
    std::ofstream fill(disk + "/fill");
    fill << std::string(8 << 20, 'x');
    fill.flush();
    EXPECT_FALSE(fill) << "the disk is full";
  }
  auto started = replicas.start("late", world.shell("exec sleep 1000"), {});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::limit) << to_string(started.error());
  EXPECT_THAT(started.error().message, HasSubstr("No space left on device"));
  EXPECT_THAT(*replicas.list(), ElementsAre("good")) << "nothing of it was begun";
  EXPECT_TRUE(*is_running(identity_of(*good.program)));
  // Its supervisor has written, and the log has not grown.
  const std::string log = disk + "/good/log/replica.log";
  ASSERT_TRUE(eventually([&] {
    std::error_code ignored;
    const auto size = std::filesystem::file_size(log, ignored);
    const int64_t writes = written_by(good.supervisor.pid);
    return eventually([&] { return written_by(good.supervisor.pid) >= writes + 3; }) &&
           std::filesystem::file_size(log, ignored) == size;
  }));
  std::filesystem::remove(disk + "/fill");
  auto says_that_it_lost_some = [&] {
    auto lines = replicas.last_lines("good", 10'000);
    return lines && std::ranges::any_of(*lines, [](const LogLine& line) {
             return line.text.ends_with("bytes of the log were lost: the disk took no more");
           });
  };
  EXPECT_TRUE(eventually(says_that_it_lost_some));
  EXPECT_EQ(world.settled("late", world.shell("exec sleep 1000")).phase, Phase::running);
  for (const char* name : {"good", "late"}) EXPECT_TRUE(replicas.stop(name));
  ::umount2(disk.c_str(), MNT_DETACH);
}

TEST_F(ReplicasTest, AReadOnlyDiskIsNamed) {
  const std::string disk = world.folder.path("replicas");
  ASSERT_TRUE(mount_small_disk(disk)) << "it needs root, or user namespaces";
  ASSERT_EQ(::mount(nullptr, disk.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  auto started = replicas.start("one", world.shell("exec sleep 1000"), {});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::limit);
  EXPECT_THAT(started.error().message, HasSubstr("Read-only file system"));
  ::umount2(disk.c_str(), MNT_DETACH);
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
