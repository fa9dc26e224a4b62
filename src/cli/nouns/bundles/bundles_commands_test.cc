// sluice bundles: what each command prints. tests/bundle/ has them from end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "base/testing_folder.h"
#include "cli/testing_commands.h"
#include "deploy/deploy_kit.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {
namespace bundles_commands_test {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
namespace fs = std::filesystem;

struct BundlesCommands : ::testing::Test {
  BundlesCommands() {
    fs::create_directory(folder.path("shop"));
    put("bundle.yaml", "name: shop\nversion: \"1.0\"\nrun: [./app]\n");
    put("app", "program\n");
    auto built = run({"build", folder.path("shop"), "--out", file});
    EXPECT_EQ(built.exit, 0) << built.err;
  }
  void put(const std::string& name, const std::string& text) { std::ofstream(folder.path("shop/" + name)) << text; }
  Ran run(std::vector<std::string> words) {
    words.insert(words.begin(), "bundles");
    return run_line(commands, words, {}, {{{"SLUICE_HOME", folder.path("home")}}, "", &loaded});
  }
  json::value json_of(std::vector<std::string> words) {
    words.insert(words.end(), {"-o", "json"});
    auto done = run(words);
    return done.out.empty() ? json::value(done.err) : json::parse(done.out);
  }

  TestingFolder folder;
  host::LoadedConcepts loaded{.concepts = deploy::concepts()};
  Commands commands = all_commands();
  const std::string file = folder.path("shop.bundle");
};

TEST_F(BundlesCommands, InspectShowsWhatItIs) {
  EXPECT_THAT(run({"inspect", file}).out,
              MatchesRegex("bundle   shop 1.0\nformat   squashfs, 2 entries, 47 bytes in [0-9]+\ntree     sha256:"
                           "[0-9a-f]+\narchive  sha256:[0-9a-f]+\nsigned   by [0-9a-f]+, not verified\n"));
  json::value shown = json_of({"inspect", file, "--files"});
  EXPECT_EQ(shown.at("files").at(0).at("path"), "app");
  EXPECT_EQ(shown.at("files").at(0).at("mode"), "0644");
  EXPECT_EQ(shown.at("signatures").as_array().size(), 1U);
}

TEST_F(BundlesCommands, InspectShowsAnArchiveWhateverIsWrongBesideIt) {
  std::ofstream(file + ".sig.json") << "{bad";
  auto done = run({"inspect", file});
  EXPECT_EQ(done.exit, 1);
  EXPECT_THAT(done.out, HasSubstr("bundle   shop 1.0\n"));
  EXPECT_THAT(done.out, HasSubstr("signed   its sidecar cannot be read\n"));
  EXPECT_EQ(done.err, "error: " + file + ".sig.json:1:2: not valid JSON: unexpected 'b'\n");
  fs::remove(file + ".sig.json");
  fs::create_directory(file + ".sig.json");
  auto refused = run({"verify", file});
  EXPECT_EQ(refused.exit, 11);
  EXPECT_THAT(refused.err, HasSubstr("sidecar unreadable: the sidecar cannot be read: "));
}

TEST_F(BundlesCommands, ExtractNeedsANameForTheFolder) {
  auto done = run({"extract", file, ""});
  EXPECT_EQ(done.exit, 2);
  EXPECT_EQ(done.err, "error: say into which new folder to unpack\nnext:  sluice help bundles extract\n");
}

TEST_F(BundlesCommands, VerifySaysYesOrOneLine) {
  EXPECT_THAT(run({"verify", file}).out, MatchesRegex("verified  shop 1.0 for local, signed by [0-9a-f]+\n"));
  auto refused = run({"verify", file, "--env", "prod"});
  EXPECT_EQ(refused.exit, 11);
  EXPECT_THAT(refused.err, MatchesRegex("error: .*/shop.bundle: key out of scope: key .* may not sign bundle shop for "
                                        "environment prod, only \\* for local\n"));
  EXPECT_EQ(run({"verify", file, "--env", ""}).exit, 2);
  EXPECT_THAT(run({"verify", file, "--env", "No"}).err, HasSubstr("error: --env: an environment is named by"));
}

TEST_F(BundlesCommands, SignAddsToASidecarOfTheSameArchiveAlone) {
  fs::remove(file + ".sig.json");
  EXPECT_THAT(run({"sign", file}).out, MatchesRegex("signed  .*/shop.bundle  by [0-9a-f]+, 1 signature\n"));
  EXPECT_EQ(json_of({"sign", file}).at("signatures"), 1);
  put("app", "another\n");
  fs::rename(file + ".sig.json", folder.path("old.json"));
  ASSERT_EQ(run({"build", folder.path("shop"), "--out", file}).exit, 0);
  fs::rename(folder.path("old.json"), file + ".sig.json");
  auto refused = run({"sign", file});
  EXPECT_EQ(refused.exit, 11);
  EXPECT_THAT(refused.err, HasSubstr("is of another archive; it was left as it was\n"));
  EXPECT_EQ(run({"sign", file, "--replace"}).exit, 0);
  EXPECT_EQ(run({"verify", file}).exit, 0);
}

TEST_F(BundlesCommands, DoctorFindsFaultsOrNone) {
  auto proven = run({"doctor", file});
  EXPECT_EQ(proven.exit, 0);
  EXPECT_EQ(proven.err, "There are no secrets in 2 files.\n");
  put("config.txt", std::string("key AKIA") + "Q3EGLU2R7XVNTP4H\n");
  auto found = run({"doctor", folder.path("shop")});
  EXPECT_EQ(found.exit, 1);
  EXPECT_THAT(found.err,
              MatchesRegex("secret  config.txt:1: an AWS access key \\(sha256:[0-9a-f]+\\)\n1 finding in 3 files\n"));
  std::string hash(json_of({"doctor", folder.path("shop")}).at("findings").at(0).at("hash").as_string());
  EXPECT_EQ(run({"doctor", folder.path("shop"), "--allow", hash}).exit, 0);
  EXPECT_EQ(run({"doctor", file, "--allow", "all"}).exit, 2);
}

TEST_F(BundlesCommands, DiffComparesArchivesAndFolders) {
  EXPECT_EQ(run({"diff", folder.path("shop/"), file}).err, "They are the same.\n");
  put("app", "longer program\n");
  put("new", "");
  auto differ = run({"diff", file, folder.path("shop"), "--exit-code"});
  EXPECT_EQ(differ.out, "~ app (content, 8 to 15 bytes)\n+ new\n");
  EXPECT_EQ(differ.exit, 3);
  EXPECT_EQ(run({"diff", file, folder.path("shop")}).exit, 0);
}

TEST_F(BundlesCommands, ExtractMakesANewFolder) {
  auto done = run({"extract", file, folder.path("out")});
  EXPECT_THAT(done.out, HasSubstr("2 entries, 47 bytes\n"));
  EXPECT_TRUE(fs::exists(folder.path("out/app")));
  EXPECT_EQ(run({"extract", file, folder.path("out")}).exit, 6);
  EXPECT_EQ(run({"extract", file, folder.path("other"), "--tree", "sha256:" + std::string(64, '0')}).exit, 11);
  EXPECT_FALSE(fs::exists(folder.path("other")));
  EXPECT_EQ(run({"extract", file, folder.path("other"), "--tree", "x"}).exit, 2);
}

}  // namespace bundles_commands_test
}  // namespace sluice::cli
