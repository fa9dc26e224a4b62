// Commands that end in every way, with real processes. Each is short, or is killed.
#include "process/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "process/system.h"

namespace sluice::process {
namespace run_test {

constexpr int64_t kLong_ms = 60'000;

struct Running : testing::Test {
  Result<Ran> shell(const std::string& script, int64_t deadline_ms = kLong_ms,
                    const std::function<bool()>& cancelled = {}) {
    return runner.run({.argv = {"sh", "-c", script},
                       .folder = folder.path(),
                       .environment = {{"PATH", "/usr/bin:/bin"}, {"COLOR", "blue"}},
                       .deadline_ms = deadline_ms,
                       .tail_bytes = 100},
                      cancelled);
  }
  // Whether the process is gone, or is nobody's any more and only not yet waited for.
  static bool gone(pid_t pid) {
    std::string text = kernel_text("/proc/" + std::to_string(pid) + "/stat");
    size_t at = text.rfind(')');
    return at == std::string::npos || text.substr(at + 2, 1) == "Z";
  }
  static bool becomes_gone(pid_t pid) {
    return eventually([&] { return gone(pid); });
  }
  pid_t noted(const std::string& name) {
    std::ifstream file(folder.path(name));
    pid_t pid = 0;
    file >> pid;
    return pid;
  }

  TestingFolder folder;
  RealClock clock;
  RealRunner runner{clock};
};

TEST_F(Running, KeepsWhatItSaysAndItsExitCode) {
  EXPECT_EQ(shell("echo out; echo err >&2; exit 3").value(), (Ran{.code = 3, .tail = "out\nerr\n"}));
  EXPECT_EQ(to_string(Ran{.code = 3}), "ended with exit code 3");
  EXPECT_TRUE(shell("true")->good());
}

TEST_F(Running, RunsInItsFolderWithItsOwnEnvironmentAndNoInput) {
  ASSERT_EQ(::setenv("LEAKED", "1", 1), 0);
  EXPECT_EQ(shell("pwd; echo $COLOR $LEAKED; cat").value().tail,
            std::filesystem::canonical(folder.path()).string() + "\nblue\n");
}

TEST_F(Running, KeepsTheLastOfALongStory) {
  Ran ran = shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done").value();
  EXPECT_EQ(ran.tail.size(), 100U);
  EXPECT_TRUE(ran.cut);
  EXPECT_TRUE(ran.tail.ends_with("line 19999\n"));
}

TEST_F(Running, ShowsTheLastLinesHarmlessly) {
  EXPECT_EQ(last_lines({.tail = "one\ntwo\n\x1b[2Jthree"}, 2), (std::vector<std::string>{"two", "\\x1b[2Jthree"}));
  EXPECT_TRUE(last_lines({}).empty());
}

TEST_F(Running, SaysWhichSignalKilledIt) {
  EXPECT_EQ(shell("kill -TERM $$").value(), (Ran{.end = Ran::End::killed, .signal = SIGTERM}));
  EXPECT_EQ(to_string(Ran{.end = Ran::End::killed, .signal = 15}), "was killed by signal 15");
}

TEST_F(Running, TheDeadlineEndsTheWholeGroup) {
  Ran ran = shell("sleep 1000 & echo $! > child; echo begun; wait", 300).value();
  EXPECT_EQ(ran.end, Ran::End::deadline);
  EXPECT_EQ(ran.tail, "begun\n");
  ASSERT_GT(noted("child"), 0);
  EXPECT_TRUE(becomes_gone(noted("child")));
}

TEST_F(Running, CancellingEndsTheWholeGroup) {
  auto begun = [this] { return noted("child") > 0; };
  Ran ran = shell("sleep 1000 & echo $! > child; wait", kLong_ms, begun).value();
  EXPECT_EQ(ran.end, Ran::End::cancelled);
  EXPECT_TRUE(becomes_gone(noted("child")));
}

TEST_F(Running, WhatItLeavesBehindEndsWithItAndIsNotWaitedFor) {
  Ran ran = shell("sleep 1000 & echo $! > child; echo done").value();
  EXPECT_EQ(ran, (Ran{.tail = "done\n"}));
  EXPECT_TRUE(becomes_gone(noted("child")));
}

TEST_F(Running, OneThatClosesItsOutputIsStillWaitedFor) {
  EXPECT_EQ(shell("exec >&- 2>&-; sleep 0.1; exit 4").value().code, 4);
}

TEST_F(Running, SaysWhatCannotBeRun) {
  EXPECT_EQ(runner.run({}, {}).error().message, "there is no command to run");
  auto missing = runner.run({.argv = {"no-such-program"}, .environment = {{"PATH", "/usr/bin::."}}}, {});
  EXPECT_EQ(missing.error().message, "there is no program no-such-program on PATH");
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_EQ(runner.run({.argv = {"./none"}, .folder = folder.path()}, {}).error().code, Code::not_found);
  EXPECT_EQ(runner.run({.argv = {"/bin/true"}, .folder = folder.path("none")}, {}).error().code, Code::not_found);
  EXPECT_EQ(runner.run({.argv = {"/bin/true", std::string("\0", 1)}}, {}).error().message, "a command cannot hold NUL");
}

TEST_F(Running, ANameWithASlashIsAFileOfTheFolder) {
  std::ofstream(folder.path("build.sh")) << "#!/bin/sh\necho built\n";
  std::filesystem::permissions(folder.path("build.sh"), std::filesystem::perms::owner_all);
  EXPECT_EQ(runner.run({.argv = {"./build.sh"}, .folder = folder.path()}, {}).value().tail, "built\n");
}

}  // namespace run_test
}  // namespace sluice::process
