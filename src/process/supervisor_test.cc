// Programs that misbehave in every way, each under a real supervisor: what is said of it, and that nothing stays.
#include "process/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/testing_wait.h"
#include "process/control_group.h"
#include "process/process_tree.h"
#include "process/replica_files.h"
#include "process/testing_port.h"
#include "process/testing_replicas.h"

namespace sluice::process {
namespace supervisor_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

struct SupervisorTest : testing::Test {
  std::string in(const std::string& name, const std::string& file) {
    return world.folder.path("replicas/" + name + "/run/" + file);
  }
  Launch launch_of(const std::string& name) {
    return parse_launch(world.file(ReplicaFiles(world.folder.path("replicas/" + name)).launch)).value();
  }
  void expect_nothing_of(const std::string& name) {
    EXPECT_THAT(processes_marked(launch_of(name).mark), ElementsAre());
    for (const std::string& each : launch_of(name).groups) EXPECT_FALSE(std::filesystem::exists(each)) << each;
    ReplicaState state = world.replicas.look(name).value();
    EXPECT_TRUE(world.gone({state.supervisor.pid}));
  }
  ReplicaState fails(const Workload& workload) {
    ReplicaState state = world.settled("one", workload);
    EXPECT_EQ(state.phase, Phase::failed) << state.message;
    EXPECT_FALSE(state.healthy);
    EXPECT_FALSE(state.program);
    expect_nothing_of("one");
    return state;
  }

  TestingReplicas world;
};

// --- programs that cannot be started ------------------------------------------------------------------------

TEST_F(SupervisorTest, SaysThatThereIsNoSuchProgram) {
  Workload workload = world.shell("");
  workload.argv = {"./none"};
  ReplicaState state = fails(workload);
  EXPECT_EQ(state.reason, Reason::cannot_start);
  EXPECT_EQ(state.message, "there is no program ./none in the bundle");
  workload.argv = {"no-such-program"};
  EXPECT_EQ(fails(workload).message, "there is no program no-such-program on PATH");
}

TEST_F(SupervisorTest, SaysThatItIsNotExecutable) {
  Workload workload = world.shell("");
  ASSERT_TRUE(world.disk.chmod(workload.root + "/app", 0644));
  EXPECT_EQ(fails(workload).message, "./app is not an executable file");
}

TEST_F(SupervisorTest, SaysThatItIsForAnotherMachine) {
  Workload workload = world.shell("");
  std::string header(
      "\x7f"
      "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xf3\0",
      20);  // RISC-V
  std::ofstream(workload.root + "/app") << header << std::string(200, '\0');
  EXPECT_EQ(fails(workload).message, "./app is not a program for this machine");
}

TEST_F(SupervisorTest, SaysThatItsInterpreterIsMissing) {
  Workload workload = world.shell("");
  workload.root = world.bundle("strange", "/usr/bin/no-such-interpreter", "");
  EXPECT_EQ(fails(workload).message, "cannot run ./app: there is no such interpreter as its first line names");
}

TEST_F(SupervisorTest, SaysThatItsPortIsTaken) {
  Workload workload = world.server();
  {
    TakenPort taken;
    workload.port = taken.number();
    ReplicaState state = fails(workload);
    EXPECT_EQ(state.reason, Reason::port_in_use);
    EXPECT_EQ(state.message, "port " + std::to_string(*workload.port) + " is in use");
  }
  EXPECT_EQ(world.settled("one", workload).phase, Phase::running);
}

// --- programs that end --------------------------------------------------------------------------------------

TEST_F(SupervisorTest, GivesUpOneThatCrashesBeforeItIsHealthy) {
  Workload workload = world.shell("echo bad luck >&2; exit 3");
  workload.health.by = HealthBy::tcp;
  ReplicaState state = fails(workload);
  EXPECT_EQ(state.reason, Reason::crash_loop);
  EXPECT_EQ(state.message, "it ended with exit code 3, 3 times without ever being healthy");
  EXPECT_THAT(world.said("one"), ElementsAre("err bad luck", "err bad luck", "err bad luck"));
}

TEST_F(SupervisorTest, OneThatEndsWellAtOnceHasCrashedAllTheSame) {
  Workload workload = world.shell("exit 0");
  workload.health.by = HealthBy::tcp;
  EXPECT_EQ(fails(workload).message, "it ended with exit code 0, 3 times without ever being healthy");
}

TEST_F(SupervisorTest, StartsOneAgainThatWasHealthyAndNeverGivesItUp) {
  Workload workload = world.server();
  workload.restarts.crashes = 2;
  ReplicaState state = world.settled("one", workload);
  for (uint32_t i = 1; i <= 4; ++i) {
    ASSERT_EQ(::kill(state.program->pid, SIGKILL), 0);
    state = world.when("one", [&](const ReplicaState& s) { return is_settled(s) && s.restarts == i; });
    ASSERT_EQ(state.phase, Phase::running) << state.message;
  }
  auto lines = world.replicas.last_lines("one", 1000).value();
  EXPECT_THAT(lines, Contains(testing::Field(&LogLine::text, "it was killed by signal 9; starts again in 1 ms")));
  EXPECT_THAT(lines, Contains(testing::Field(&LogLine::text,
                                             "it was killed by signal 9, 4 times in a row; starts again in 8 ms")));
  EXPECT_EQ(std::ranges::count(lines, "crash loop: it is started again ever less often", &LogLine::text), 1);
}

TEST_F(SupervisorTest, EndsWhatAProgramThatForksAwayLeaves) {
  Workload workload = world.shell(
      "setsid sh -c 'echo $$ >>$HOME/pids; exec sleep 1000' & "
      "while ! [ -s $HOME/pids ]; do sleep 0.01; done; exit 0");
  workload.health.by = HealthBy::tcp;
  workload.restarts.crashes = 1;
  EXPECT_EQ(fails(workload).message, "it ended with exit code 0, 1 times without ever being healthy");
  auto pids = world.pids(in("one", "pids"));
  ASSERT_EQ(pids.size(), 1U);
  EXPECT_TRUE(world.gone(pids));
}

// Allocates step by step, so that it has what it was given when it is refused or ended.
constexpr std::string_view kGreedy = "blocks = []\nwhile True: blocks.append(b'x' * (1 << 20))";

TEST_F(SupervisorTest, SaysThatItUsedUpItsMemory) {
  Workload workload = world.python(std::string(kGreedy));
  workload.health.by = HealthBy::tcp;
  workload.limits.memory_bytes = 64 << 20;
  workload.restarts.crashes = 1;
  ReplicaState state = fails(workload);
  EXPECT_EQ(state.reason, Reason::out_of_memory) << "bounded by " << state.limited_by;
  EXPECT_EQ(state.message, "it used up its 64 MB of memory, 1 times without ever being healthy");
}

TEST_F(SupervisorTest, SaysSoAlsoWhereNoControlGroupBoundsIt) {
  Replicas ungrouped(world.disk, world.clock, world.random,
                     {.folder = world.folder.path("replicas"), .supervisor = {supervisor_tool()}, .groups = false});
  Workload workload = world.python(std::string(kGreedy));
  workload.health.by = HealthBy::tcp;
  workload.limits.memory_bytes = 64 << 20;
  workload.restarts.crashes = 1;
  ASSERT_TRUE(ungrouped.start("one", workload, {}));
  ReplicaState state = world.when("one", is_settled);
  EXPECT_EQ(state.reason, Reason::out_of_memory) << state.message;
  EXPECT_EQ(state.limited_by, "rlimits");
  auto lines = ungrouped.last_lines("one", 100);
  std::vector<std::string> texts;
  for (const LogLine& line : *lines) texts.push_back(line.text);
  EXPECT_THAT(texts, Contains("its limits are kept by rlimits"));
  EXPECT_THAT(texts, Contains("MemoryError"));
}

// --- programs that go on ------------------------------------------------------------------------------------

TEST_F(SupervisorTest, EndsOneThatIsNeverHealthy) {
  Workload workload = world.python(
      "import os, socket, time\n"
      "server = socket.socket(socket.AF_UNIX)\n"
      "server.bind(os.environ['SLUICE_SOCKET'])\nserver.listen()\n"
      "print('listening', flush=True)\ntime.sleep(1000)");
  workload.health = {.by = HealthBy::http, .path = "/health", .interval_ms = 10, .timeout_ms = 100};
  workload.health.start_within_ms = 1500;
  ReplicaState state = fails(workload);
  EXPECT_EQ(state.reason, Reason::health_timeout);
  EXPECT_EQ(state.message, "it was not healthy within 1500 ms: it did not answer within 100 ms");
  EXPECT_THAT(world.said("one"), ElementsAre("out listening"));
}

TEST_F(SupervisorTest, SeesThatOneIsUnhealthyAndLeavesItRunning) {
  Workload workload = world.shell("exec sleep 1000");
  workload.health = {.by = HealthBy::command, .command = {"/bin/sh", "-c", "echo sick; test ! -e $HOME/sick"}};
  workload.health.interval_ms = 10;
  ReplicaState state = world.settled("one", workload);
  ASSERT_EQ(state.phase, Phase::running);
  std::ofstream(in("one", "sick")) << "";
  ReplicaState sick = world.when("one", [](const ReplicaState& s) { return !s.healthy; });
  EXPECT_EQ(sick.phase, Phase::running);
  EXPECT_EQ(sick.message, "is unhealthy: it fails its check, which ended with exit code 1: sick");
  EXPECT_EQ(sick.program, state.program);
  std::filesystem::remove(in("one", "sick"));
  EXPECT_EQ(world.when("one", is_settled).program, state.program);
}

TEST_F(SupervisorTest, ACheckMaySayMoreThanAPipeHolds) {
  Workload workload = world.shell("exec sleep 1000");
  workload.health = {.by = HealthBy::command,
                     .command = {"/bin/sh", "-c", "yes | head -c 200000; yes | head -c 200000 >&2"}};
  workload.health.timeout_ms = kTestDeadline_ms;
  workload.health.start_within_ms = kTestDeadline_ms;
  EXPECT_EQ(world.settled("one", workload).phase, Phase::running);
}

TEST_F(SupervisorTest, SaysThatACheckIsMissing) {
  Workload workload = world.shell("exec sleep 1000");
  workload.health = {.by = HealthBy::command, .command = {"./nope"}};
  workload.health.start_within_ms = 200;
  EXPECT_EQ(fails(workload).message,
            "it was not healthy within 200 ms: it cannot be asked: there is no program ./nope in the bundle");
}

TEST_F(SupervisorTest, KillsOneThatDoesNotListenToSigterm) {
  Workload workload = world.shell(
      "trap '' TERM; echo $$ >$HOME/pids; (trap '' TERM; setsid sleep 1000) & "
      "echo ready; while :; do sleep 1; done");
  workload.grace_ms = 50;
  world.settled("one", workload);
  ASSERT_TRUE(eventually([&] { return !world.said("one").empty(); }));
  ASSERT_TRUE(world.replicas.stop("one"));
  EXPECT_TRUE(world.gone(world.pids(in("one", "pids"))));
  expect_nothing_of("one");
}

TEST_F(SupervisorTest, LetsOneFinishThatListensToSigterm) {
  world.settled("one", world.shell("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01;done"));
  ASSERT_TRUE(eventually([&] { return !world.said("one").empty(); }));
  ASSERT_TRUE(world.replicas.stop("one"));
  EXPECT_THAT(world.said("one"), Contains("out bye"));
  expect_nothing_of("one");
}

TEST_F(SupervisorTest, OneThatClosesItsFilesGoesOn) {
  ReplicaState state = world.settled("one", world.shell("echo last words; exec >&- 2>&- <&-; exec sleep 1000"));
  EXPECT_EQ(state.phase, Phase::running);
  EXPECT_TRUE(eventually([&] { return !world.said("one").empty(); }));
  EXPECT_TRUE(*is_running(identity_of(*state.program)));
  ASSERT_TRUE(world.replicas.stop("one"));
  EXPECT_THAT(world.said("one"), ElementsAre("out last words"));
}

TEST_F(SupervisorTest, OneThatFillsItsLogKeepsTheLastOfIt) {
  Workload workload = world.shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exec sleep 1000");
  workload.log = {.file_bytes = 10'000, .files = 3};
  world.settled("one", workload);
  EXPECT_TRUE(eventually([&] {
    auto said = world.said("one");
    return !said.empty() && said.back() == "out line 19999";
  }));
  uintmax_t size = 0, files = 0;
  for (const auto& each : std::filesystem::directory_iterator(world.folder.path("replicas/one/log"))) {
    size += each.file_size();
    files++;
  }
  EXPECT_EQ(files, 3U);
  EXPECT_LT(size, 3 * (10'000U + 3 * (64 << 10)));
}

// --- what it gets, and what it does not ----------------------------------------------------------------------

TEST_F(SupervisorTest, AProgramSeesItsOwnAndNothingElse) {
  const int leak = ::dup(2);  // a descriptor that is not closed on exec
  ASSERT_EQ(::setenv("LEAKED", "1", 1), 0);
  std::ofstream(world.folder.path("key")) << "the controller's";
  Workload workload = world.python(R"(
import json, os, resource, stat
def tried(what):
    try:
        return what()
    except OSError as e:
        return type(e).__name__
print(json.dumps({
    'uid': os.getuid(), 'gid': os.getgid(), 'groups': os.getgroups(),
    'new_privs': [l.split()[1] for l in open('/proc/self/status') if l.startswith('NoNewPrivs')],
    'descriptors': sorted(int(n) for n in os.listdir('/proc/self/fd'))[:3] + [len(os.listdir('/proc/self/fd')) - 1],
    'stdin': os.read(0, 1).decode(),
    'group': os.getpgid(0) == os.getpid() and os.getsid(0) == os.getpid(),
    'write': tried(lambda: open('new', 'w').close()),
    'home': sorted(os.listdir(os.environ['HIDDEN'])) if os.getuid() == 65532 else [],
    'key': tried(lambda: open(os.environ['HIDDEN'] + '/key').read()) if os.getuid() == 65532 else 'FileNotFoundError',
    'config': json.load(open(os.environ['SLUICE_CONFIG'])),
    'files': resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    'core': max(resource.getrlimit(resource.RLIMIT_CORE)),
    'names': sorted(n for n in os.environ if n != 'LC_CTYPE'),
}), flush=True)
import time; time.sleep(1000))");
  workload.environment["HIDDEN"] = workload.hidden;
  workload.config = R"({"color":"blue"})";
  workload.limits.files = 100;
  world.settled("one", workload);
  ::close(leak);
  ASSERT_TRUE(eventually([&] { return !world.said("one").empty(); }));
  const bool root = ::geteuid() == 0;
  const std::string user = root ? "65532" : std::to_string(::geteuid());
  EXPECT_THAT(
      world.said("one"),
      ElementsAre("out {\"uid\": " + user + ", \"gid\": " + (root ? user : std::to_string(::getegid())) +
                  ", \"groups\": [], \"new_privs\": [\"1\"], \"descriptors\": [0, 1, 2, 3], \"stdin\": \"\", "
                  "\"group\": true, \"write\": " +
                  // Whose folder it is may write there, unless root takes that away.
                  (root ? "\"OSError\"" : "null") + ", \"home\": " + (root ? "[\"bundles\", \"replicas\"]" : "[]") +
                  ", \"key\": \"FileNotFoundError\", \"config\": {\"color\": \"blue\"}, \"files\": 100, \"core\": 1, "
                  "\"names\": [\"HIDDEN\", \"HOME\", \"PATH\", \"SLUICE_CONFIG\", \"SLUICE_REPLICA\", "
                  "\"SLUICE_SOCKET\"]}"));
}

TEST_F(SupervisorTest, SecretsReachTheProgramAndNobodyElse) {
  const std::string secret = "s3cr3t-of-the-test";
  for (SecretsAs as : {SecretsAs::env, SecretsAs::file}) {
    const std::string name = as == SecretsAs::env ? "env" : "file";
    Workload workload = world.shell(as == SecretsAs::env ? "echo ${#TOKEN}; exec sleep 1000"
                                                         : "wc -c <$TOKEN; echo x >$TOKEN; exec sleep 1000");
    workload.secrets_as = as;
    ReplicaState state = world.settled(name, workload, {{"TOKEN", secret}});
    ASSERT_TRUE(eventually([&] { return !world.said(name).empty(); }));
    EXPECT_EQ(world.said(name).front(), "out " + std::to_string(secret.size()));
    for (const auto& each : std::filesystem::recursive_directory_iterator(world.folder.path())) {
      if (!each.is_regular_file()) continue;
      EXPECT_THAT(world.file(each.path()), testing::Not(HasSubstr(secret))) << each.path();
    }
    for (const char* file : {"cmdline", "environ"}) {
      const std::string of_supervisor = "/proc/" + std::to_string(state.supervisor.pid) + "/" + file;
      EXPECT_THAT(world.file(of_supervisor), testing::Not(HasSubstr(secret)));
    }
    const std::string own = world.file("/proc/" + std::to_string(state.program->pid) + "/environ");
    EXPECT_EQ(own.find(secret) != std::string::npos, as == SecretsAs::env);
  }
}

// All programs have the same user; what keeps them apart is a user namespace for each.
TEST_F(SupervisorTest, AProgramCannotLookIntoAnotherOfItsUser) {
  Workload holder = world.shell("cat $TOKEN >/dev/null; exec sleep 1000");
  holder.secrets_as = SecretsAs::file;
  const ReplicaState held = world.settled("holder", holder, {{"TOKEN", "s3cr3t-of-the-test"}});
  Workload spy = world.python(R"(
import os, subprocess, sys, time
def tried(what):
    try:
        what()
        return 'open'
    except OSError as e:
        return type(e).__name__
def looked_into(pid):
    place = '/proc/' + str(pid)
    return [tried(lambda: open(place + '/environ', 'rb').read()), tried(lambda: open(place + '/fd/3', 'rb').read()),
            tried(lambda: open(place + '/maps', 'rb').read()), tried(lambda: os.listdir(place + '/root/'))]
child = subprocess.Popen(['sleep', '1000'], stdin=open('/dev/null'), pass_fds=[os.dup2(0, 3)])
print(looked_into(os.environ['HOLDER']), looked_into(child.pid), os.stat('/').st_uid, flush=True)
time.sleep(1000))");
  spy.environment["HOLDER"] = std::to_string(held.program->pid);
  world.settled("spy", spy);
  ASSERT_TRUE(eventually([&] { return !world.said("spy").empty(); }));
  const std::string open = "['open', 'open', 'open', 'open']";
  const std::string no = "'PermissionError'";
  const bool apart = ::geteuid() == 0 && make_ids();
  EXPECT_THAT(
      world.said("spy"),
      ElementsAre("out " + (apart ? "[" + no + ", " + no + ", " + no + ", " + no + "]" : open) + " " + open + " 0"));
  if (::geteuid() == 0) {
    const std::string log = world.file(world.folder.path("replicas/spy/log/replica.log"));
    EXPECT_EQ(log.find("no user namespace of its own") == std::string::npos, apart);
  }
}

TEST_F(SupervisorTest, OthersAreNotTouchedWhenOneFails) {
  ReplicaState good = world.settled("good", world.server());
  Workload bad = world.shell("exit 1");
  bad.health.by = HealthBy::tcp;
  fails(bad);
  EXPECT_EQ(*world.replicas.look("good"), good);
}

}  // namespace supervisor_test
}  // namespace sluice::process
