// Commands in a replica's place, run as `sluice exec` runs them.
#include "process/replica_exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/testing_wait.h"
#include "process/testing_replicas.h"

namespace sluice::process {
namespace replica_exec_test {

using testing::HasSubstr;

struct ReplicaExecTest : testing::Test {
  struct Ended {
    int code = -1;
    std::string said;
  };

  // A process of its own that becomes the command.
  pid_t begin(const std::string& name, const std::vector<std::string>& argv, Descriptor& says) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    says = Descriptor(ends[0]);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::dup2(ends[1], 1);
      ::dup2(ends[1], 2);
      (void)world.replicas.exec(name, argv);
      ::_exit(99);
    }
    ::close(ends[1]);
    return pid;
  }
  Ended run(const std::string& name, const std::vector<std::string>& argv) {
    Descriptor says;
    const pid_t pid = begin(name, argv, says);
    Ended ended;
    std::array<char, 4096> bytes{};
    for (ssize_t got = 0; (got = ::read(says.fd(), bytes.data(), bytes.size())) > 0;) {
      ended.said.append(bytes.data(), static_cast<size_t>(got));
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ended;
  }

  TestingReplicas world;
};

TEST_F(ReplicaExecTest, ACommandHasWhatTheProgramHas) {
  for (SecretsAs as : {SecretsAs::env, SecretsAs::file}) {
    const std::string name = as == SecretsAs::env ? "env" : "file";
    Workload workload = world.shell("exec sleep 1000");
    workload.environment["COLOR"] = "blue";
    workload.secrets_as = as;
    world.settled(name, workload, {{"TOKEN", "t0p"}});
    const std::string token = as == SecretsAs::env ? "$TOKEN" : "$(cat $TOKEN)";
    Ended ended = run(name, {"sh", "-c", "echo $COLOR " + token + " $(id -u) $PWD; exit 5"});
    const std::string user = std::to_string(::geteuid() == 0 ? 65532 : ::geteuid());
    EXPECT_EQ(ended.said, "blue t0p " + user + " " + workload.root + "\n");
    EXPECT_EQ(ended.code, 5);
  }
  EXPECT_EQ(*world.replicas.secrets("file"), (Secrets{{"TOKEN", "t0p"}}));
}

TEST_F(ReplicaExecTest, ACommandCanLookIntoTheProgram) {
  const Workload workload = world.shell("exec sleep 1000");
  ReplicaState state = world.settled("one", workload, {{"TOKEN", "t0p"}});
  const std::string place = "/proc/" + std::to_string(state.program->pid);
  // By its inode: what the kernel calls a folder in another's mounts depends on whether this is a chroot.
  Ended ended = run("one", {"sh", "-c",
                            "tr '\\0' '\\n' <" + place + "/environ | grep TOKEN; stat -L -c %d:%i " + place +
                                "/cwd . | uniq -c | tr -s ' ' | cut -d' ' -f2"});
  EXPECT_EQ(ended.said, "TOKEN=t0p\n2\n");
}

TEST_F(ReplicaExecTest, ItEndsWithTheReplica) {
  world.settled("one", world.shell("exec sleep 1000"));
  Descriptor says;
  const pid_t pid = begin("one", {"sh", "-c", "echo here; exec sleep 1000"}, says);
  std::array<char, 5> bytes{};
  ASSERT_EQ(::read(says.fd(), bytes.data(), bytes.size()), 5);
  EXPECT_TRUE(world.replicas.remove("one"));
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(ReplicaExecTest, SaysWhatCannotBeRun) {
  world.settled("one", world.shell("exec sleep 1000"));
  Ended none = run("one", {"no-such-command"});
  EXPECT_EQ(none.code, 127);
  EXPECT_EQ(none.said, "error: there is no program no-such-command on PATH\n");
  ASSERT_TRUE(world.replicas.stop("one"));
  EXPECT_EQ(world.replicas.exec("one", {"true"}).message, "one does not run: stopped");
  EXPECT_EQ(world.replicas.exec("two", {"true"}).message, "there is no replica two");
  EXPECT_EQ(world.replicas.secrets("one").error().code, Code::not_found);
}

TEST_F(ReplicaExecTest, OtherCommandLinesAreNotItsOwn) {
  std::array<char*, 1> words{};
  EXPECT_EQ(exec_in_replica(1, words.data()), std::nullopt);
}

}  // namespace replica_exec_test
}  // namespace sluice::process
