// The trust root as commands that verify get it.
#include "cli/home_trust.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "cli/testing_commands.h"
#include "deploy/deploy_kit.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {
namespace home_trust_test {

TEST(HomeTrust, IsWhatWasDecidedAndNobodyBefore) {
  TestingFolder folder;
  host::LoadedConcepts loaded{.concepts = deploy::concepts()};
  Commands commands = all_commands();
  Given given;
  given.command = commands.find("trust list");
  std::istringstream in;
  std::ostringstream out, err;
  Output output{{}, out, err};
  Variables variables = [&](const std::string& name) -> std::optional<std::string> {
    return name == "SLUICE_HOME" ? std::optional(folder.path("home")) : std::nullopt;
  };
  RealDisk disk;
  Context context{commands, given, output, variables, in, disk, &loaded};

  auto root = trust_root_of_home(context);
  ASSERT_TRUE(root) << to_string(root.error());
  EXPECT_TRUE(root->keys.empty());
  auto done = run_line(commands, {"trust", "bootstrap", "--env", "staging"}, {},
                       {{{"SLUICE_HOME", folder.path("home")}}, "", &loaded});
  ASSERT_EQ(done.exit, 0) << done.err;
  root = trust_root_of_home(context);
  ASSERT_TRUE(root) << to_string(root.error());
  ASSERT_EQ(root->keys.size(), 1U);
  EXPECT_EQ(root->keys[0].environments, std::vector<std::string>{"staging"});
}

}  // namespace home_trust_test
}  // namespace sluice::cli
