// sluice bundles build, on folders and a home of its own. tests/bundle/ has it from end to end.
#include "cli/nouns/bundles/bundles_build.h"

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
namespace bundles_build_test {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
namespace fs = std::filesystem;

struct BundlesBuild : ::testing::Test {
  BundlesBuild() {
    fs::create_directory(folder.path("shop"));
    put("bundle.yaml", "name: shop\nversion: \"1.0\"\nrun: [./app]\n");
    put("app", "program\n");
  }
  void put(const std::string& name, const std::string& text) { std::ofstream(folder.path("shop/" + name)) << text; }
  Ran build(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"bundles", "build", folder.path("shop"), "--out", folder.path("shop.bundle")};
    words.insert(words.end(), more.begin(), more.end());
    return run_line(commands, words, {},
                    {{{"SLUICE_HOME", folder.path("home")}, {"PATH", "/usr/bin:/bin"}}, "", &loaded});
  }

  TestingFolder folder;
  host::LoadedConcepts loaded{.concepts = deploy::concepts()};
  Commands commands = all_commands();
};

TEST_F(BundlesBuild, PacksSignsAndNamesWhatItSkips) {
  put(".env", "A=b\n");
  auto done = build();
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_THAT(done.out, MatchesRegex("built    shop 1.0  .*/shop.bundle\npacked   2 entries, 47 bytes in [0-9]+\n"
                                     "tree     sha256:[0-9a-f]+\narchive  sha256:[0-9a-f]+\nsigned   [0-9a-f]+\n"));
  EXPECT_THAT(done.err, HasSubstr("skipped 1 file or folder:\n  .env  an environment file\n"));
  EXPECT_TRUE(fs::exists(folder.path("shop.bundle")));
  EXPECT_TRUE(fs::exists(folder.path("shop.bundle.sig.json")));
}

TEST_F(BundlesBuild, ASecretFailsItWithFileAndLineAndNothingIsWritten) {
  put("config.txt", std::string("one\nkey AKIA") + "Q3EGLU2R7XVNTP4H\n");
  auto failed = build();
  EXPECT_EQ(failed.exit, 11);
  EXPECT_THAT(failed.err, HasSubstr("config.txt:2: an AWS access key (sha256:"));
  EXPECT_FALSE(fs::exists(folder.path("shop.bundle")));
  EXPECT_FALSE(fs::exists(folder.path("shop.bundle.sig.json")));
}

TEST_F(BundlesBuild, ShowsTheLastLinesOfABuildThatFails) {
  put("bundle.yaml", "name: shop\nversion: \"1.0\"\nrun: [./app]\nbuild: [sh, -c, 'echo broken; exit 3']\n");
  auto failed = build();
  EXPECT_EQ(failed.exit, 1);
  EXPECT_THAT(failed.err, HasSubstr("  broken\nerror: shop was not built: sh ended with exit code 3\n"));
}

TEST_F(BundlesBuild, PacksIntoAFileAndSaysSoFirst) {
  auto failed = run_line(commands, {"bundles", "build", folder.path("shop"), "--out", folder.path("shop")}, {},
                         {{{"SLUICE_HOME", folder.path("home")}, {"PATH", "/usr/bin:/bin"}}, "", &loaded});
  EXPECT_EQ(failed.exit, 6);
  EXPECT_THAT(failed.err, HasSubstr("error: " + folder.path("shop") + " is a folder\nnext:  name a file, such as " +
                                    folder.path("shop") + "/shop.bundle\n"));
}

TEST_F(BundlesBuild, NeedsAManifest) {
  fs::remove(folder.path("shop/bundle.yaml"));
  auto failed = build();
  EXPECT_EQ(failed.exit, 5);
  EXPECT_THAT(failed.err, HasSubstr("error: there is no " + folder.path("shop/bundle.yaml") + "\nnext:  sluice init "));
}

}  // namespace bundles_build_test
}  // namespace sluice::cli
