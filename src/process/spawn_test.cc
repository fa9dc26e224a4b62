// The child itself; how it is heard and ended is tested in run_test.cc.
#include "process/spawn.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>

namespace sluice::process {
namespace spawn_test {

TEST(Child, IsTheLeaderOfAGroupOfItsOwn) {
  auto child = Child::spawn({.program = "/bin/cat", .argv = {"cat", "/dev/zero"}, .folder = "/"});
  ASSERT_TRUE(child) << to_string(child.error());
  EXPECT_EQ(::getpgid(child->id()), child->id());
  std::array<char, 8> bytes{};
  auto said = child->read(60'000, bytes);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->size(), 8U);
  EXPECT_FALSE(child->ended());
  EXPECT_EQ(child->kill_and_wait(), (Exit{.signal = SIGKILL}));
  EXPECT_TRUE(child->ended());
}

TEST(Child, IsGoneWhenItIsForgotten) {
  pid_t pid = 0;
  {
    auto child = Child::spawn({.program = "/bin/cat", .argv = {"cat", "/dev/zero"}, .folder = "/"});
    ASSERT_TRUE(child);
    pid = child->id();
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
}

TEST(Child, HasNoBlockedSignals) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  auto child = Child::spawn({.program = "/bin/grep", .argv = {"grep", "SigBlk", "/proc/self/status"}, .folder = "/"});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(child);
  std::array<char, 64> bytes{};
  auto said = child->read(60'000, bytes);
  ASSERT_TRUE(said);
  EXPECT_EQ(std::string(said->data(), said->size()), "SigBlk:\t0000000000000000\n");
}

}  // namespace spawn_test
}  // namespace sluice::process
