// Each shell gets its own script, whatever the output format.
#include <gtest/gtest.h>

#include "cli/completion.h"
#include "cli/testing_commands.h"

namespace sluice::cli {
namespace completion_commands_test {

TEST(CompletionCommands, PrintTheScriptOfTheShell) {
  Commands commands = testing_commands();
  EXPECT_EQ(run_line(commands, {"completion", "bash"}).out, bash_completion(commands));
  EXPECT_EQ(run_line(commands, {"completion", "zsh"}).out, zsh_completion(commands));
  EXPECT_EQ(run_line(commands, {"completion", "fish", "-o", "json"}).out, fish_completion(commands));
  EXPECT_EQ(run_line(commands, {"completion", "tcsh"}).exit, 2);
}

}  // namespace completion_commands_test
}  // namespace sluice::cli
