// Tools are small scripts in a folder of the test's own, which is all of PATH.
#include "base/tool_probe.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing_folder.h"

namespace sluice {
namespace tool_probe_test {

namespace fs = std::filesystem;

class ToolProbeTest : public testing::Test {
 protected:
  void make_tool(const std::string& name, const std::string& script, fs::perms mode = fs::perms::owner_all) {
    std::ofstream(folder_ / name) << "#!/bin/sh\n" << script << '\n';
    fs::permissions(folder_ / name, mode);
  }

  ToolProbe probe(const ToolQuestion& question, std::string path = "") {
    if (path.empty()) path = folder_.string();
    return probe_tool(question, [path](const std::string& name) -> std::optional<std::string> {
      if (name == "PATH") return path;
      return std::nullopt;
    });
  }

  TestingFolder testing_folder_;
  const fs::path folder_ = testing_folder_.path();
};

TEST_F(ToolProbeTest, FindsAToolAndItsVersion) {
  make_tool("gitlike", "[ \"$1\" = --version ] && echo 'gitlike version 2.39.5 (Debian)'");
  EXPECT_EQ(probe({.name = "gitlike", .hint = "apt install gitlike"}),
            (ToolProbe{.name = "gitlike",
                       .found = true,
                       .path = (folder_ / "gitlike").string(),
                       .version = "2.39.5",
                       .hint = "apt install gitlike"}));
}

TEST_F(ToolProbeTest, SaysWhatIsMissingAndHowToGetIt) {
  make_tool("plain", "echo 1.0", fs::perms::owner_read);
  fs::create_directory(folder_ / "folder");
  for (const char* name : {"absent", "folder", "../etc/passwd", ""}) {
    EXPECT_EQ(probe({.name = name, .hint = "apt install it"}), (ToolProbe{.name = name, .hint = "apt install it"}));
  }
}

TEST_F(ToolProbeTest, ReadsStderrAndUsesThePatternOfTheTool) {
  make_tool("odd", "echo 'Client v7 build 1.2.3' >&2; exit 3");
  EXPECT_EQ(probe({.name = "odd", .version_pattern = "v([0-9]+)"}).version, "7");
  EXPECT_EQ(probe({.name = "odd", .version_pattern = "release ([0-9]+)"}).version, "");
}

TEST_F(ToolProbeTest, EndsAToolThatDoesNotAnswer) {
  make_tool("stuck", "/bin/sleep 1000 & /bin/sleep 1000");
  ToolProbe stuck = probe({.name = "stuck", .deadline = std::chrono::milliseconds(50)});
  EXPECT_TRUE(stuck.found);
  EXPECT_EQ(stuck.version, "");
}

TEST_F(ToolProbeTest, EndsAToolThatTalksWithoutEnd) {
  make_tool("chatty", "echo 4.5.6; while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done");
  EXPECT_EQ(probe({.name = "chatty"}).version, "4.5.6");
}

TEST_F(ToolProbeTest, SkipsRelativeFoldersOfPath) {
  make_tool("here", "echo 1.0");
  fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_FALSE(probe({.name = "here"}, ".::bin").found);
  EXPECT_TRUE(probe({.name = "here"}, ".:" + folder_.string()).found);
  fs::current_path(before);
}

TEST_F(ToolProbeTest, SurvivesAFileThatCannotRun) {
  std::ofstream(folder_ / "broken") << "\x7f"
                                       "ELF nonsense";
  fs::permissions(folder_ / "broken", fs::perms::owner_all);
  ToolProbe broken = probe({.name = "broken"});
  EXPECT_TRUE(broken.found);
  EXPECT_EQ(broken.version, "");
}

}  // namespace tool_probe_test
}  // namespace sluice
