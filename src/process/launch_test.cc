// Launching alone; what a launched program gets and sees is tested in supervisor_test.cc, where it is used.
#include "process/launch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/testing_folder.h"
#include "base/testing_wait.h"

namespace sluice::process {
namespace launch_test {

std::string all_of(const Descriptor& pipe, pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  std::array<char, 4096> bytes{};
  ssize_t got = ::read(pipe.fd(), bytes.data(), bytes.size());
  return {bytes.data(), got > 0 ? static_cast<size_t>(got) : 0};
}

TEST(Launch, GivesTheProgramItsWordsVariablesAndStreams) {
  auto launched = launch({.argv = {"sh", "-c", "echo $1 $COLOR; echo err >&2", "sh", "word"},
                          .root = "/usr",
                          .environment = {{"PATH", "/usr/bin:/bin"}, {"COLOR", "blue"}},
                          .user = ::geteuid()});
  ASSERT_TRUE(launched) << to_string(launched.error());
  EXPECT_EQ(all_of(launched->out, launched->pid), "word blue\n");
  EXPECT_EQ(all_of(launched->err, launched->pid), "err\n");
}

TEST(Launch, SaysThatItsFolderIsMissing) {
  auto launched = launch({.argv = {"/bin/true"}, .root = "/usr/none", .user = ::geteuid()});
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, Code::not_found);
}

TEST(Launch, SaysWhatFailsHoweverManyDescriptorsAreHandedOver) {
  std::vector<Descriptor> held;
  std::vector<int> handed;
  for (int i = 0; i < 100; ++i) {
    held.emplace_back(::dup(2));
    handed.push_back(held.back().fd());
  }
  auto launched = launch({.argv = {"/bin/true"}, .root = "/usr/none", .user = ::geteuid(), .descriptors = handed});
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, Code::not_found);
}

TEST(Launch, EndsWithTheProcessThatStartedIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  pid_t parent = ::fork();
  if (parent == 0) {
    auto launched = launch({.argv = {"/bin/sleep", "1000"}, .root = "/usr", .user = ::geteuid()});
    pid_t pid = launched ? launched->pid : 0;
    (void)!::write(ends[1], &pid, sizeof pid);
    ::raise(SIGKILL);
  }
  pid_t pid = 0;
  ASSERT_EQ(::read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_GT(pid, 0);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !identify_process(pid); }));
}

TEST(Launch, AProcessCanBecomeTheProgram) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    const Error error = launch_here({.argv = {"sh", "-c", "echo $COLOR in $PWD; exit 7"},
                                     .root = "/usr",
                                     .environment = {{"PATH", "/usr/bin:/bin"}, {"COLOR", "blue"}},
                                     .user = ::geteuid()});
    ::_exit(error.code == Code::ok ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  std::array<char, 64> bytes{};
  ssize_t got = ::read(ends[0], bytes.data(), bytes.size());
  EXPECT_EQ(std::string(bytes.data(), static_cast<size_t>(std::max<ssize_t>(got, 0))), "blue in /usr\n");
  EXPECT_EQ(launch_here({.argv = {"none"}, .root = "/usr"}).message, "there is no program none on PATH");
}

}  // namespace launch_test
}  // namespace sluice::process
