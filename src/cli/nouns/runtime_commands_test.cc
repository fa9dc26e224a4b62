// sluice runtime on a home of its own, with real programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_runtime.h"

namespace sluice::cli {
namespace runtime_commands_test {

using testing::HasSubstr;

struct RuntimeCommands : testing::Test, TestingRuntime {};

TEST_F(RuntimeCommands, AnEmptyHomeHasNothing) {
  EXPECT_EQ(run({"runtime", "list"}).out, "Nothing runs here.\n");
  Ran none = run({"runtime", "show", "hello"});
  EXPECT_EQ(none.exit, 5);
  EXPECT_EQ(none.err, "error: nothing that runs is called hello\nnext:  sluice runtime list\n");
}

TEST_F(RuntimeCommands, ListShowAndStop) {
  const std::string instance = deploy("hello", process::server_script(), 2);
  json::value listed = json::parse(run({"runtime", "list", "-o", "json"}).out);
  ASSERT_EQ(listed.as_array().size(), 1U);
  EXPECT_EQ(listed.at(0).at("component"), "hello");
  EXPECT_EQ(listed.at(0).at("version"), "1.0");
  EXPECT_EQ(listed.at(0).at("replicas").at(1).at("healthy"), true);
  EXPECT_THAT(run({"runtime", "list"}).out, HasSubstr("2/2"));

  json::value shown = json::parse(run({"runtime", "show", "hello", "-o", "json"}).out);
  EXPECT_EQ(shown.at("instance"), json::value(instance));
  EXPECT_EQ(shown.at("history").at(0).at("version"), "1.0");
  EXPECT_EQ(shown.at("replicas").at(1).at("label"), "hello.1");
  EXPECT_GT(shown.at("replicas").at(0).at("pid").as_int64(), 0);
  const std::string text = run({"runtime", "show", instance.substr(20)}).out;
  EXPECT_THAT(text, HasSubstr("name       hello\ninstance   " + instance + "\ntype       local\n"));
  EXPECT_THAT(text, HasSubstr("hello.0  healthy"));

  EXPECT_EQ(run({"runtime", "stop", "hello", "--dry-run"}).out, "would stop  hello " + instance + ", 2 replicas\n");
  EXPECT_EQ(world.replicas.list()->size(), 2U);
  EXPECT_EQ(run({"runtime", "stop", "hello"}).out, "stopped  hello " + instance + ", 2 replicas\n");
  EXPECT_TRUE(world.replicas.list()->empty());
  EXPECT_EQ(run({"runtime", "list", "-o", "json"}).out, "[]\n");
  EXPECT_EQ(run({"runtime", "stop", "hello"}).exit, 5);
}

}  // namespace runtime_commands_test
}  // namespace sluice::cli
