// A plugin finds what this program has found, and what its kubeconfig says besides.
#include "deploy/executor/exec_plugin.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace sluice::deploy::executor {
namespace exec_plugin_test {

class PretendedRunner final : public process::Runner {
 public:
  Result<process::Ran> run(const process::RunRequest& request, const std::function<bool()>&) override {
    asked = request;
    return ran;
  }
  process::RunRequest asked;
  process::Ran ran{.tail = "said"};
};

TEST(ExecPlugin, RunsInThisEnvironment) {
  PretendedRunner runner;
  auto run = plugin_runner(runner);
  EXPECT_EQ(*run({.command = {"login", "a"}, .environment = {{"PATH", "/own"}, {"PROFILE", "p"}}}), "said");
  EXPECT_EQ(runner.asked.argv, (std::vector<std::string>{"login", "a"}));
  EXPECT_EQ(runner.asked.environment.at("PATH"), "/own") << "what the kubeconfig says counts";
  EXPECT_EQ(runner.asked.environment.at("PROFILE"), "p");
  EXPECT_GT(runner.asked.environment.size(), 2U);
  runner.ran.code = 3;
  auto failed = run({.command = {"login"}, .hint = "get it"});
  EXPECT_EQ(failed.error().message, "login ended with exit code 3");
  EXPECT_EQ(failed.error().next, "get it");
}

}  // namespace exec_plugin_test
}  // namespace sluice::deploy::executor
