// sluice artifact on a home of its own, with real commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/clock.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "cli/testing_commands.h"
#include "deploy/concepts/artifact/artifact_builder.h"
#include "deploy/deploy_kit.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {
namespace artifact_commands_test {

using testing::HasSubstr;

struct ArtifactCommands : testing::Test {
  ArtifactCommands() {
    loaded.tools.add(builder);
    std::filesystem::create_directory(folder.path("shop"));
    put("one");
  }

  void put(const std::string& text) { std::ofstream(folder.path("shop/main.txt")) << text; }
  Ran run(std::vector<std::string> words) {
    words.insert(words.begin(), "artifact");
    return run_line(commands, words, {}, {{{"SLUICE_HOME", folder.path("home")}}, "", &loaded});
  }
  Ran build(const std::string& script) {
    return run({"build", folder.path("shop"), "--file", "out", "-o", "json", "--", "sh", "-c", script});
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  process::RealRunner runner{clock};
  deploy::artifact::ArtifactBuilder builder{
      disk,
      runner,
      {.home = folder.path("home"), .environment = {{"PATH", "/usr/bin:/bin"}}, .version_of = [](const std::string&) {
         return std::optional<std::string>("1");
       }}};
  host::LoadedConcepts loaded{.concepts = deploy::concepts()};
  Commands commands = all_commands();
};

TEST_F(ArtifactCommands, AKitIsKeptAsOneTar) {
  std::filesystem::create_directory(folder.path("kit"));
  auto put_kit = [&](const std::string& version) {
    std::ofstream(folder.path("kit/suite.yaml")) << "kit: {name: cms, version: " << version << "}\n";
    return json::parse(run({"build", folder.path("kit"), "-o", "json"}).out);
  };
  const json::value first = put_kit("1");
  EXPECT_EQ(first.at("built"), true);
  EXPECT_EQ(put_kit("1").at("hash"), first.at("hash"));
  const json::value second = put_kit("2");
  EXPECT_NE(second.at("hash"), first.at("hash"));
  const json::array listed = json::parse(run({"list", "--kit", "cms", "--last", "1", "-o", "json"}).out).as_array();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].at("hash"), second.at("hash"));
  std::ofstream(folder.path("kit/suite.yaml")) << "kit: {}\n";
  EXPECT_THAT(run({"build", folder.path("kit")}).err, HasSubstr("suite.yaml does not name its kit"));
}

TEST_F(ArtifactCommands, BuildsOnceAndThenKeeps) {
  const std::string script = "cp main.txt out; echo ran >> " + folder.path("log");
  json::value first = json::parse(build(script).out);
  EXPECT_EQ(first.at("built"), true);
  EXPECT_EQ(first.at("sizeBytes"), 3);
  json::value again = json::parse(build(script).out);
  EXPECT_EQ(again.at("built"), false);
  EXPECT_EQ(again.at("hash"), first.at("hash"));
  EXPECT_EQ(std::filesystem::file_size(folder.path("log")), 4U);
  put("two");
  EXPECT_NE(json::parse(build(script).out).at("hash"), first.at("hash"));
}

TEST_F(ArtifactCommands, AFailureShowsTheLastLines) {
  auto failed = run({"build", folder.path("shop"), "--file", "out", "--", "sh", "-c", "echo broken; exit 2"});
  EXPECT_EQ(failed.exit, 1);
  EXPECT_THAT(failed.err, HasSubstr("  broken\nerror: shop was not built: sh ended with exit code 2\n"));
}

TEST_F(ArtifactCommands, TakesItsInputsFromABundleYaml) {
  auto manifest = [&](const std::string& more) {
    std::ofstream(folder.path("shop/bundle.yaml")) << "name: till\nversion: \"1\"\n" + more;
  };
  manifest("run: [./bin/till, -v]\nbuild: [sh, -c, 'mkdir bin; cp main.txt bin/till']\n");
  auto done = run({"build", folder.path("shop")});
  EXPECT_THAT(done.out, testing::MatchesRegex("built  sha256:[0-9a-f]+  3 bytes\n")) << done.err;
  EXPECT_EQ(json::parse(run({"list", "-o", "json"}).out).at(0).at("conceptName"), "till");
  manifest("run: [python3, main.txt]\nbuild: [sh, -c, 'cp main.txt out']\n");
  EXPECT_EQ(run({"build", folder.path("shop")}).err,
            "error: say which file the command leaves\nnext:  sluice artifact build DIR --file out -- COMMAND…\n");
  EXPECT_EQ(run({"build", folder.path("shop"), "--file", "out"}).exit, 0);
  manifest("run: [./app]\n");
  EXPECT_EQ(run({"build", folder.path("shop")}).err,
            "error: " + folder.path("shop/bundle.yaml") +
                " has no build, so there is nothing to run\nnext:  sluice bundles build packs the folder as it is\n");
}

TEST_F(ArtifactCommands, SaysWhatIsMissing) {
  EXPECT_EQ(run({"build", folder.path("shop"), "--", "true"}).err,
            "error: say which file the command leaves\nnext:  sluice artifact build DIR --file out -- COMMAND…\n");
  EXPECT_EQ(run({"build", folder.path("shop"), "--file", "out"}).exit, 2);
  EXPECT_EQ(run({"build", folder.path("none"), "--file", "out", "--", "true"}).exit, 5);
  EXPECT_FALSE(std::filesystem::exists(folder.path("home")));
}

TEST_F(ArtifactCommands, ListsAndCollects) {
  EXPECT_EQ(run({"list"}).out, "Nothing that was built is kept.\n");
  auto done = run({"build", folder.path("shop/main.txt"), "--name", "shop"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_THAT(done.out, testing::MatchesRegex("built  sha256:[0-9a-f]+  3 bytes\n"));
  json::value listed = json::parse(run({"list", "-o", "json"}).out);
  EXPECT_EQ(listed.at(0).at("conceptName"), "shop");
  EXPECT_EQ(run({"list", "--name", "till"}).out, "Nothing that was built is kept.\n");
  run({"build", folder.path("shop/main.txt"), "--name", "till-of-old"});
  auto table = run({"list", "--name", "till-of-old"}).out;
  EXPECT_THAT(table, HasSubstr("  shop, till-of-old  "));
  EXPECT_THAT(table, HasSubstr(std::string(listed.at(0).at("hash").as_string()).substr(0, 19) + "  "));
  for (std::stringstream lines(table); std::getline(lines, table);) EXPECT_LE(table.size(), 100U) << table;
  EXPECT_EQ(run({"gc", "--dry-run"}).out, "would remove no artifact\n");
  EXPECT_EQ(run({"gc", "--older-than", "0s", "--keep", "0", "--dry-run"}).out,
            "would remove 1 artifact, with shop, till-of-old " +
                std::string(listed.at(0).at("hash").as_string()).substr(0, 19) + " (3 bytes)\n");
  EXPECT_EQ(run({"gc"}).out, "removed  0, freed 0 bytes\n");
  EXPECT_EQ(run({"gc", "--older-than", "0s", "--keep", "0"}).out, "removed  1, freed 3 bytes\n");
  EXPECT_EQ(run({"list"}).out, "Nothing that was built is kept.\n");
}

}  // namespace artifact_commands_test
}  // namespace sluice::cli
