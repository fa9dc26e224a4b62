// The table answers what is in it, and stops on what contradicts itself.
#include "cli/command.h"

#include <gtest/gtest.h>

#include "cli/testing_commands.h"

namespace sluice::cli {
namespace command_test {

using Words = std::vector<std::string>;

TEST(Commands, FindNounsAndVerbs) {
  Commands commands = testing_commands();
  EXPECT_EQ(commands.first_words(), (Words{"gate", "help", "completion"}));
  EXPECT_EQ(commands.verbs_of("gate"), (Words{"open", "check", "close"}));
  EXPECT_EQ(commands.verbs_of("gat"), Words{});
  EXPECT_EQ(commands.find("gate open")->summary, "Open a gate");
  EXPECT_EQ(commands.find("gate"), nullptr);
  EXPECT_EQ(commands.find_noun("gate")->summary, "Open and close gates");
}

TEST(Commands, KnowTheirUsage) {
  Commands commands = testing_commands();
  EXPECT_EQ(usage_line(*commands.find("gate open")), "sluice gate open [options] <gate> [<files>...]");
  EXPECT_EQ(usage_line(*commands.find("gate check")), "sluice gate check [options]");
}

TEST(CommandsDeathTest, RefuseATableThatContradictsItself) {
  Commands commands = testing_commands();
  auto run = [](Context&) -> Result<Code> { return Code::ok; };
  EXPECT_DEATH(commands.add({.name = "gate open", .summary = "x", .example = "sluice gate open", .run = run}), "find");
  EXPECT_DEATH(commands.add({.name = "door open", .summary = "x", .example = "sluice door open", .run = run}), "noun");
  EXPECT_DEATH(commands.add({.name = "gate new", .summary = "x", .example = "sluice gate old", .run = run}), "example");
  EXPECT_DEATH(commands.add({.name = "gate new", .summary = "x", .example = "sluice gate new"}), "run");
  EXPECT_DEATH(commands.add({.name = "gate new",
                             .summary = "x",
                             .options = {{.name = "quiet", .help = "x"}},
                             .example = "sluice gate new",
                             .run = run}),
               "global_options");
}

TEST(GivenDeathTest, RefusesNamesThatAreNotInTheTable) {
  Given given;
  EXPECT_DEATH((void)given.text("no-such-option"), "declared");
}

TEST(Commands, ALineIsRepeatedAsAShellTakesIt) {
  Given given;
  given.line = {"artifact", "build", "a b", "it's", "--", "tar", "cf"};
  EXPECT_EQ(line_with(given, "--reason x"), "sluice artifact build 'a b' 'it'\\''s' --reason x -- tar cf");
  given.line = {"kit", "run", "x/y", "A/b", "n=1", ""};
  EXPECT_EQ(line_with(given, "--reason x"), "sluice kit run x/y A/b n=1 '' --reason x");
}

}  // namespace command_test
}  // namespace sluice::cli
