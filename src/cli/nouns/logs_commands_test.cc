// sluice logs and the refusals of sluice exec; what follows, and a command in a replica's place, is run by
// tests/runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "cli/testing_runtime.h"

namespace sluice::cli {
namespace logs_commands_test {

using testing::HasSubstr;

struct LogsCommands : testing::Test, TestingRuntime {
  void deploy_talkers() {
    deploy("hello",
           "import os\nprint('hello from', os.environ['SLUICE_SOCKET'].split('/')[-3][-3:], flush=True)\n" +
               process::server_script(),
           2);
    auto names = world.replicas.list();
    for (const std::string& each : *names) {
      ASSERT_TRUE(eventually([&] { return !world.said(each).empty(); }));
    }
  }
};

TEST_F(LogsCommands, ReplicasAreMergedAndNamed) {
  deploy_talkers();
  const std::string text = run({"logs", "hello", "--grep", "^hello from"}).out;
  EXPECT_THAT(text, HasSubstr("Z hello.0 out hello from 1.0\n"));
  EXPECT_THAT(text, HasSubstr("Z hello.1 out hello from 1.1\n"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_THAT(run({"logs", "hello.1", "--grep", "from"}).out, testing::Not(HasSubstr("hello.0")));
  EXPECT_THAT(run({"logs", "hello"}).out, HasSubstr("sluice is healthy after"));
  EXPECT_EQ(run({"logs", "hello", "hello.0", "--grep", "from 1.0"}).out.find("hello.0"),
            run({"logs", "hello", "hello.0", "--grep", "from 1.0"}).out.rfind("hello.0"))
      << "named twice, it is shown once";
}

TEST_F(LogsCommands, TheLinesAreDocumentsForPrograms) {
  deploy_talkers();
  Ran ran = run({"logs", "hello.0", "--grep", "from", "-o", "json"});
  json::value line = json::parse(ran.out);
  EXPECT_EQ(line.at("stream"), "out");
  EXPECT_EQ(line.at("text"), "hello from 1.0");
  EXPECT_EQ(line.at("label"), "hello.0");
}

TEST_F(LogsCommands, EachReplicaHasItsColorOnATerminal) {
  deploy_talkers();
  const std::string text = run({"logs", "hello", "--grep", "from"}, {.tty = true, .color = true}).out;
  const Terminal terminal{.tty = true, .color = true};
  auto first_and_second = [&](const std::string& first, const std::string& second) {
    return testing::AllOf(HasSubstr(terminal.paint(Style::accent, first)),
                          HasSubstr(terminal.paint(Style::good, second)));
  };
  // Colors are given in the order in which the replicas speak.
  EXPECT_THAT(text, testing::AnyOf(first_and_second("hello.0", "hello.1"), first_and_second("hello.1", "hello.0")));
  const std::string plain = run({"logs", "hello", "--grep", "from", "--no-color"}, {.tty = true, .color = true}).out;
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
}

TEST_F(LogsCommands, WhatIsOlderIsLeftOut) {
  deploy_talkers();
  EXPECT_THAT(run({"logs", "hello", "--since", "1h"}).out, HasSubstr("hello from"));
  EXPECT_EQ(run({"logs", "hello", "--since", "0s"}).out, "");
}

TEST_F(LogsCommands, SayWhatTheyCannotFind) {
  Ran ran = run({"logs", "hello", "--grep", "("});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("--grep: '(' is no regular expression: "));
  EXPECT_EQ(run({"logs", "hello"}).exit, 5);
  EXPECT_EQ(run({"exec", "hello", "--", "true"}).err,
            "error: nothing that runs is called hello\nnext:  sluice runtime list\n");
  TestingFolder other;
  EXPECT_EQ(run_line(commands, {"exec", "hello", "--", "true"}, {}, {.variables = {{"SLUICE_HOME", other.path()}}}).err,
            "error: this program has no local runtime\n");
}

}  // namespace logs_commands_test
}  // namespace sluice::cli
