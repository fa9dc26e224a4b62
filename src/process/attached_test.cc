// Commands over pipes and over a terminal.
#include "process/attached.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "base/testing_wait.h"

namespace sluice::process {
namespace attached_test {

using testing::HasSubstr;

std::string read_some(int fd) {
  std::array<char, 4096> bytes{};
  const ssize_t got = ::read(fd, bytes.data(), bytes.size());
  return got > 0 ? std::string(bytes.data(), static_cast<size_t>(got)) : "";
}

struct AttachedTest : testing::Test {
  void start(const std::string& script, std::optional<TerminalSize> terminal = {}) {
    auto started = Attached::start({"/bin/sh", "-c", script}, terminal);
    ASSERT_TRUE(started) << to_string(started.error());
    command.emplace(*std::move(started));
  }
  // What it has said until this is in it.
  std::string said_until(const std::string& text) {
    std::string said;
    EXPECT_TRUE(eventually([&] {
      said += read_some(command->output());
      return said.find(text) != std::string::npos;
    })) << said;
    return said;
  }
  int code() {
    EXPECT_TRUE(eventually([&] { return command->ended().has_value(); }));
    return command->ended().value_or(-1);
  }

  std::optional<Attached> command;
};

TEST_F(AttachedTest, PipesAreThreeAndTheExitCodeIsItsOwn) {
  start("cat; echo wrong >&2; exit 7");
  ASSERT_EQ(::write(command->input(), "typed\n", 6), 6);
  command->end_input();
  EXPECT_EQ(command->input(), -1);
  EXPECT_EQ(said_until("typed\n"), "typed\n");
  EXPECT_EQ(code(), 7);
  EXPECT_EQ(read_some(command->errors()), "wrong\n");
}

TEST_F(AttachedTest, ATerminalHasASizeThatChanges) {
  start("stty size; read line; stty size; echo got $line", TerminalSize{.rows = 30, .columns = 100});
  EXPECT_EQ(command->errors(), -1);
  said_until("30 100");
  command->resize({.rows = 31, .columns = 101});
  ASSERT_EQ(::write(command->input(), "tea\n", 4), 4);
  EXPECT_THAT(said_until("got tea"), HasSubstr("31 101"));
  EXPECT_EQ(code(), 0);
}

TEST_F(AttachedTest, ASignalIsACode) {
  start("kill -TERM $$");
  EXPECT_EQ(code(), 128 + SIGTERM);
}

TEST_F(AttachedTest, EndsWithItsOwner) {
  start("echo $$; exec sleep 1000");
  const pid_t pid = std::stoi(said_until("\n"));
  command.reset();
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST_F(AttachedTest, WhatCannotBeRunIsSaid) {
  EXPECT_EQ(Attached::start({"/no/such/program"}, {}).error().code, Code::not_found);
  EXPECT_EQ(Attached::start({std::string("a\0b", 3)}, {}).error().message, "a command cannot hold NUL");
}

}  // namespace attached_test
}  // namespace sluice::process
