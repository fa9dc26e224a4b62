// Rules that hold for every command that is ever added.
#include "cli/all_commands.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/terminal.h"

namespace sluice::cli {
namespace all_commands_test {

TEST(AllCommands, ReadAlike) {
  const Commands commands = all_commands();
  ASSERT_FALSE(commands.all().empty());
  for (const Command& command : commands.all()) {
    EXPECT_LE(display_width(command.summary), 60U) << command.name;
    EXPECT_TRUE(isupper(command.summary.front())) << command.name;
    EXPECT_FALSE(command.summary.ends_with('.')) << command.name;
    for (const Option& option : command.options) {
      EXPECT_FALSE(option.help.empty() || option.help.ends_with('.')) << command.name << " --" << option.name;
      EXPECT_FALSE(isupper(option.help.front()) && islower(option.help[1])) << command.name << " --" << option.name;
    }
    for (const Arg& arg : command.args) EXPECT_FALSE(arg.help.empty()) << command.name << ' ' << arg.name;
  }
  for (const Noun& noun : commands.nouns()) EXPECT_FALSE(commands.verbs_of(noun.name).empty()) << noun.name;
}

// The completion scripts skip what follows an option that takes a value, whatever the command.
TEST(AllCommands, GiveAnOptionOneShape) {
  // An option of another command takes a value: the word behind these flags is only not completed.
  const std::set<std::string> flags = {"deploy status --wait", "deploy cancel --keep", "init --manifest",
                                       "access can --explain", "config show --explain"};
  std::map<std::string, bool> takes_value;
  const Commands commands = all_commands();
  for (const Command& command : commands.all()) {
    for (const Option& option : command.options) {
      // Nothing but options follows there, so that a word that is skipped is never missed; of a rollout, which the
      // newest one is if it is left out, that word is only not completed.
      if (option.name == "wait" && (command.args.empty() || command.name.starts_with("rollout "))) continue;
      if (flags.contains(command.name + " --" + option.name)) continue;
      auto [known, added] = takes_value.emplace(option.name, !option.value.empty());
      EXPECT_EQ(known->second, !option.value.empty()) << command.name << " --" << option.name;
    }
  }
}

}  // namespace all_commands_test
}  // namespace sluice::cli
