// A process is told from another that got its pid, and from one that has ended.
#include "base/process_identity.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace process_identity_test {

TEST(ProcessIdentity, OfARunningProcessIsStable) {
  auto mine = identify_this_process();
  ASSERT_TRUE(mine) << mine.error().message;
  EXPECT_EQ(mine->pid, ::getpid());
  EXPECT_GT(mine->start_ticks, 0u);
  EXPECT_EQ(mine->boot.size(), 36u);
  EXPECT_EQ(*identify_this_process(), *mine);
  EXPECT_TRUE(*is_running(*mine));
}

TEST(ProcessIdentity, DiffersFromAnotherProcessWithTheSamePid) {
  auto mine = *identify_this_process();
  auto earlier = mine;
  earlier.start_ticks -= 1;
  EXPECT_FALSE(*is_running(earlier));
  auto before_reboot = mine;
  before_reboot.boot = "another";
  EXPECT_FALSE(*is_running(before_reboot));
}

TEST(ProcessIdentity, AProcessThatEndedDoesNotRunEvenBeforeItIsReaped) {
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  auto identity = identify_process(child);
  ASSERT_TRUE(identity);
  EXPECT_TRUE(*is_running(*identity));
  ::kill(child, SIGKILL);
  siginfo_t ended;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(*is_running(*identity)) << "a zombie";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(*is_running(*identity));
  EXPECT_EQ(identify_process(child).error().message, "there is no process " + std::to_string(child));
}

TEST(ProcessIdentity, RefusesPidsThatNameNoProcess) {
  EXPECT_EQ(identify_process(0).error().code, Code::not_found);
  EXPECT_EQ(identify_process(-1).error().message, "there is no process -1");
}

TEST(ProcessIdentity, ReadsTheStatOfProgramsWithStrangeNames) {
  auto stat = parse_process_stat("7 (a) R (b) 1) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->start_ticks, 4711u);
}

TEST(ProcessIdentity, RefusesTextThatIsNotAStat) {
  for (std::string_view text :
       {"", "7 (a", "7 (a) S", "7 (a) SS 1", "7 (a)S 1", "7 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"}) {
    EXPECT_EQ(parse_process_stat(text).error().message, "not the text of /proc/PID/stat") << text;
  }
}

TEST(ProcessIdentity, KnowsTheHost) { EXPECT_FALSE(host_name().empty()); }

}  // namespace process_identity_test
}  // namespace sluice
