// The child itself; how it is heard and ended is tested in run_test.cc.
#include "process/spawn.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/clock.h"
#include "base/testing_wait.h"
#include "process/system.h"

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

TEST(Watchdog, EndsTheGroupWhenItsProcessIsKilled) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t victim = ::fork();
  if (victim == 0) {
    auto child = Child::spawn({.program = "/bin/cat", .argv = {"cat", "/dev/zero"}, .folder = "/"});
    auto watchdog = child ? Watchdog::over(child->id()) : Result<Watchdog>(child.error());
    const pid_t pid = watchdog ? child->id() : 0;
    if (::write(ends[1], &pid, sizeof pid) == sizeof pid) ::raise(SIGKILL);
    ::_exit(1);
  }
  pid_t cat = 0;
  ASSERT_EQ(::read(ends[0], &cat, sizeof cat), static_cast<ssize_t>(sizeof cat));
  ASSERT_GT(cat, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(victim, &status, 0), victim);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_TRUE(eventually([&] {
    // An orphan that nobody waits for stays a zombie, which is as good.
    std::string text = kernel_text("/proc/" + std::to_string(cat) + "/stat");
    size_t at = text.rfind(')');
    return at == std::string::npos || text.substr(at + 2, 1) == "Z";
  }));
}

TEST(Watchdog, LeavesTheGroupAloneWhenItIsForgotten) {
  auto child = Child::spawn({.program = "/bin/cat", .argv = {"cat", "/dev/zero"}, .folder = "/"});
  ASSERT_TRUE(child);
  { ASSERT_TRUE(Watchdog::over(child->id())); }
  EXPECT_FALSE(child->ended());
}

}  // namespace spawn_test
}  // namespace sluice::process
