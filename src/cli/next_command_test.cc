// Steps as the kit gives them, and the lines that people type.
#include "cli/next_command.h"

#include <gtest/gtest.h>

#include "cli/all_commands.h"

namespace sluice::cli {
namespace next_command_test {

std::string line(const std::string& steps, const std::map<std::string, std::string>& values = {{"env", "prod"}}) {
  const Command refused{.name = "x", .args = {{.name = "env"}}};
  Given given;
  given.command = &refused;
  for (const auto& [name, value] : values) given.set(name, value);
  return next_commands(json::parse(steps).as_array(), all_commands(), given);
}

TEST(NextCommand, AnActionIsTheCommandThatIsIt) {
  EXPECT_EQ(line(R"([{"action":"Revision/warm","input":{"revision":"r1"}}])"), "sluice revisions warm prod r1");
  EXPECT_EQ(line(R"([{"action":"Traffic/clear","input":{"deployment":"d1"}}])"),
            "sluice traffic clear prod --deployment d1");
  EXPECT_EQ(line(R"([{"action":"Deployment/rollBack","input":{"deployment":"d1","steps":2}}])"),
            "sluice traffic rollback prod --deployment d1 --steps 2");
  EXPECT_EQ(line(R"([{"action":"Env/doctor","input":{"environment":"local"}}])"), "sluice env doctor local");
}

TEST(NextCommand, AnActionWithoutACommandIsStillOneLine) {
  EXPECT_EQ(line(R"([{"action":"Deployment/resume","input":{"deployment":"d1"}}])"),
            "sluice do Deployment/resume deployment=d1");
  EXPECT_EQ(line(R"([{"action":"Revision/warm","input":{"revision":"r 1"}}])", {}),
            "sluice do Revision/warm revision='r 1'")
      << "nothing says which environment that is";
}

TEST(NextCommand, AMessageMayEndWithSteps) {
  EXPECT_EQ(next_in_message("no key; next: Secret/put environment=prod name=shop/KEY", all_commands(), {}),
            "sluice secrets put prod shop/KEY");
  EXPECT_EQ(next_commands_in("Env/create environment=prod extends=local, then wait", all_commands(), {}),
            "sluice do Env/create environment=prod extends=local, then wait");
  EXPECT_EQ(next_in_message("no key", all_commands(), {}), "");
}

TEST(NextCommand, WhoeverKnowsTheEnvironmentSaysIt) {
  const auto steps = json::parse(R"([{"action":"Traffic/clear","input":{"deployment":"d1"}}])").as_array();
  EXPECT_EQ(next_commands(steps, all_commands(), {}, "prod"), "sluice traffic clear prod --deployment d1");
}

TEST(NextCommand, AViewIsTheCommandThatShowsIt) {
  EXPECT_EQ(line(R"([{"view":"environments"}])"), "sluice env list");
  EXPECT_EQ(line(R"([{"view":"environment","input":{"environment":"local"}}])"), "sluice env show local");
  EXPECT_EQ(line(R"([{"view":"revisions","input":{"environment":"local","bundle":"shop"}}])"),
            "sluice revisions list local --bundle shop");
  EXPECT_EQ(line(R"([{"view":"nobody-shows-it"}])"), "view nobody-shows-it");
}

TEST(NextCommand, SeveralStepsAreToChooseFrom) {
  EXPECT_EQ(line(R"([{"text":"give its share to another revision"},)"
                 R"({"action":"Traffic/clear","input":{"deployment":"d1"}}])"),
            "give its share to another revision, or: sluice traffic clear prod --deployment d1");
  EXPECT_EQ(line("[]"), "");
}

TEST(NextCommand, AStepInAnErrorIsACommandToo) {
  const Given none;
  const Commands commands = all_commands();
  EXPECT_EQ(next_command("view environments", commands, none), "sluice env list");
  EXPECT_EQ(next_command("Env/bind environment=prod slot=deployer kind=a.b@1.0.0", commands, none),
            "sluice env-packs add prod a.b@1.0.0 --slot deployer");
  EXPECT_EQ(next_command("Env/rebind environment=prod slot=iac", commands, none),
            "sluice env-packs update prod KIND --slot iac");
  for (const char* sentence : {"", "check the disk", "sluice audit verify", "view it again", "read and/or write"}) {
    EXPECT_EQ(next_command(sentence, commands, none), sentence);
  }
}

}  // namespace next_command_test
}  // namespace sluice::cli
