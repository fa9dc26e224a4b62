// sluice mesh agent from a bundle to a set in force, without a running agent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "cli/testing_commands.h"

namespace sluice::cli {
namespace mesh_agent_commands_test {

using testing::HasSubstr;

struct MeshAgentCommands : testing::Test {
  MeshAgentCommands() {
    add_mesh_commands(commands);
    EXPECT_EQ(run({"mesh", "init", folder}).exit, 0);
    EXPECT_EQ(run({"mesh", "ca", folder}).exit, 0);
    EXPECT_EQ(run({"mesh", "sign", folder}).exit, 0);
    auto made = run({"mesh", "bundle", "web", "--folder", folder, "--out", place.path("web.bundle")});
    EXPECT_EQ(made.exit, 0) << made.err;
    EXPECT_TRUE(write_atomically(disk, place.path("passphrase"), made.out, 0600));
  }
  Ran run(const std::vector<std::string>& words) { return run_line(commands, words); }
  Ran agent(std::vector<std::string> words) {
    words.insert(words.begin(), {"mesh", "agent"});
    words.insert(words.end(), {"--root", place.path("node")});
    return run(words);
  }

  RealDisk disk;
  TestingFolder place;
  Commands commands;
  std::string folder = place.path("acme");
};

TEST_F(MeshAgentCommands, EnrolsAndSyncsFromAFolder) {
  EXPECT_EQ(agent({"status"}).exit, 5);
  auto enrolled = agent({"enrol", place.path("web.bundle"), "--passphrase-file", place.path("passphrase")});
  EXPECT_EQ(enrolled.exit, 0) << enrolled.err;
  EXPECT_EQ(enrolled.out, "enrolled  web in acme, version 1\n");
  EXPECT_EQ(agent({"enrol", place.path("web.bundle"), "--passphrase-file", place.path("passphrase")}).exit, 6);
  EXPECT_EQ(agent({"sync", "--from", folder + "/compiled"}).out, "unchanged  version 1\n");
  std::string text = read_file(disk, folder + "/access.yaml", 1 << 20).value();
  text.replace(text.find("127.0.0.1:8000"), 14, "127.0.0.1:8001");
  ASSERT_TRUE(write_atomically(disk, folder + "/access.yaml", text, 0644));
  ASSERT_EQ(run({"mesh", "sign", folder}).exit, 0);
  EXPECT_EQ(agent({"sync", "--from", folder + "/compiled"}).out, "changed  version 2  rete\n");
  EXPECT_THAT(agent({"status"}).out, HasSubstr("unconfirmed"));
  EXPECT_EQ(agent({"confirm"}).out, "confirmed  the set in force\n");
  auto status = agent({"status"});
  EXPECT_THAT(status.out, HasSubstr("web in acme  version 2  (no agent runs)\n"));
}

TEST_F(MeshAgentCommands, AWrongPassphraseOpensNothing) {
  ASSERT_TRUE(write_atomically(disk, place.path("passphrase"), "not this one at all", 0600));
  EXPECT_EQ(agent({"enrol", place.path("web.bundle"), "--passphrase-file", place.path("passphrase")}).exit, 11);
  EXPECT_EQ(agent({"enrol"}).exit, 2);
  EXPECT_EQ(agent({"sync", "somefile"}).exit, 2);
}

}  // namespace mesh_agent_commands_test
}  // namespace sluice::cli
