// The words after `help` name one subject.
#include <gtest/gtest.h>

#include "cli/testing_commands.h"

namespace sluice::cli {
namespace help_commands_test {

TEST(HelpCommands, JoinTheWordsOfTheSubject) {
  Commands commands = testing_commands();
  EXPECT_TRUE(run_line(commands, {"help", "gate", "check"}).out.starts_with("Check all gates.\n"));
  EXPECT_TRUE(run_line(commands, {"help", "home"}).out.starts_with("home: where Sluice keeps what it writes\n"));
  EXPECT_TRUE(run_line(commands, {"help"}).out.starts_with("Sluice takes software"));
}

}  // namespace help_commands_test
}  // namespace sluice::cli
