// sluice init, answered in every way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/archive/inspect.h"
#include "cli/testing_commands.h"

namespace sluice::cli {
namespace init_commands_test {

using ::testing::HasSubstr;

struct Init : ::testing::Test {
  Init() { std::filesystem::create_directory(folder.path("shop")); }
  Ran run(std::vector<std::string> words, const std::string& in = "") {
    words.insert(words.begin(), {"init", folder.path("shop")});
    return run_line(commands, words, {}, {{}, in, nullptr});
  }
  bundle::Manifest manifest() { return bundle::manifest_of_folder(disk, folder.path("shop")).value(); }

  TestingFolder folder;
  RealDisk disk;
  Commands commands = all_commands();
};

TEST_F(Init, AsksThreeQuestionsAndProposesWhatItGuesses) {
  std::ofstream(folder.path("shop/main.py")) << "x";
  auto done = run({}, "till\n\nunix\n");
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(done.out, folder.path("shop/bundle.yaml") + "\n");
  EXPECT_EQ(done.err,
            "What is the bundle called? [shop] How is it run? [python3 main.py] Does it listen on a port ($PORT) or a "
            "unix socket ($SLUICE_SOCKET)? [port] next: sluice up " +
                folder.path("shop") + "\n");
  EXPECT_EQ(manifest().name.text, "till");
  EXPECT_EQ(manifest().run, (std::vector<std::string>{"python3", "main.py"}));
  EXPECT_EQ(manifest().listen, bundle::Listen::unix);
}

TEST_F(Init, NeedsTheFolderAndNamesItAsAShellTakesIt) {
  auto done = run_line(commands, {"init", folder.path("no such"), "--yes"});
  EXPECT_EQ(done.exit, 5);
  EXPECT_EQ(done.err, "error: there is no folder " + folder.path("no such") + "\nnext:  mkdir '" +
                          folder.path("no such") + "', put there what is to be shipped, and run this again\n");
  std::filesystem::create_directory(folder.path("no such"));
  done = run_line(commands, {"init", folder.path("no such"), "--yes", "--run", "./app"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("next: sluice up '" + folder.path("no such") + "'\n"));
}

TEST_F(Init, AsksAgainAfterAWrongAnswer) {
  auto done = run({}, "Shop\nshop\n./app 'two words'\nport\n");
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("\"Shop\" is not a name: small letters, digits and hyphens"));
  EXPECT_EQ(manifest().run, (std::vector<std::string>{"./app", "two words"}));
}

TEST_F(Init, WithoutAnybodyToAskTakesProposalsOrSaysWhatIsMissing) {
  auto failed = run({});
  EXPECT_EQ(failed.exit, 2);
  EXPECT_THAT(failed.err, HasSubstr("error: nothing in the folder says what to propose: How is it run?\n"
                                    "next:  add --run\n"));
  EXPECT_FALSE(std::filesystem::exists(folder.path("shop/bundle.yaml")));
  EXPECT_EQ(run({"--yes", "--run", "./app"}).exit, 0);
  EXPECT_EQ(manifest().name.text, "shop");
}

TEST_F(Init, TakesAnswersFromAFile) {
  std::ofstream(folder.path("answers.yaml")) << "name: till\nrun: [./app, a b]\nlisten: unix\n";
  auto done = run({"--answers", folder.path("answers.yaml"), "--listen", "port"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(manifest().run, (std::vector<std::string>{"./app", "a b"}));
  EXPECT_EQ(manifest().listen, bundle::Listen::port);
  std::filesystem::remove(folder.path("shop/bundle.yaml"));
  std::ofstream(folder.path("answers.yaml")) << "nmae: till\n";
  auto failed = run({"--answers", folder.path("answers.yaml")});
  EXPECT_EQ(failed.exit, 1);
  EXPECT_THAT(failed.err, HasSubstr("answers.yaml:1:1: /nmae: unknown field"));
}

TEST_F(Init, NeverOverwrites) {
  std::ofstream(folder.path("shop/bundle.yaml")) << "mine";
  auto failed = run({"--yes", "--run", "./app"});
  EXPECT_EQ(failed.exit, 6);
  EXPECT_THAT(failed.err, HasSubstr("bundle.yaml is there already, and was left as it is\n"));
  EXPECT_EQ(*read_file(disk, folder.path("shop/bundle.yaml"), 100), "mine");
}

TEST_F(Init, CanBeTried) {
  auto done = run({"--yes", "--run", "./app", "--dry-run"});
  EXPECT_THAT(done.out, HasSubstr("\nrun: [\"./app\"]\n"));
  EXPECT_FALSE(std::filesystem::exists(folder.path("shop/bundle.yaml")));
}

TEST_F(Init, PrintsTheSchemaOfTheManifest) {
  auto done = run({"--schema"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(json::parse(done.out), bundle::manifest_schema());
  EXPECT_FALSE(std::filesystem::exists(folder.path("shop/bundle.yaml")));
}

}  // namespace init_commands_test
}  // namespace sluice::cli
