// sluice env export and apply on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "cli/testing_objects.h"

namespace sluice::cli {
namespace env_apply_commands_test {

using testing::HasSubstr;

TEST(EnvApply, WhatIsExportedIsAppliedWithoutAChange) {
  ObjectsHome home;
  RealDisk disk;
  const std::string file = home.folder.path("local.yaml");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"env", "export", "local"}, {"env", "show", "local", "-o", "yaml"}}) {
    ASSERT_TRUE(write_atomically(disk, file, home.run(words).out, 0644));
    Ran ran = home.run({"env", "apply", "-f", file, "--prune"});
    EXPECT_EQ(ran.exit, 0);
    EXPECT_EQ(ran.err, "local is as " + file + " says\n");
  }
}

TEST(EnvApply, PlansFirstAndThenDoesIt) {
  ObjectsHome home;
  RealDisk disk;
  const std::string file = home.folder.path("prod.yaml");
  ASSERT_TRUE(write_atomically(disk, file,
                               "schema: sluice.environment.v1\nenvironment_id: prod\nhost_config: { region: eu }\n"
                               "packs: [{ slot: state, kind: sluice.state.memory@1.0.0 }]\n",
                               0644));
  Ran planned = home.run({"env", "apply", "-f", file, "--exit-code"});
  EXPECT_EQ(planned.exit, 3);
  EXPECT_EQ(planned.out, "+ environment prod\n~ region of prod\n+ sluice.state.memory@1.0.0 for state\n");
  EXPECT_EQ(home.run({"env", "show", "prod"}).exit, 5) << "nothing was changed";
  EXPECT_THAT(home.run({"env", "apply", "-f", file}).err, HasSubstr("3 changes made\n"));
  EXPECT_EQ(home.data({"env", "show", "prod"}).at("host_config").at("region"), json::value("eu"));
  ASSERT_TRUE(write_atomically(disk, file, "schema: sluice.environment.v1\nenvironment_id: prod\npacks: []\n", 0644));
  EXPECT_EQ(home.run({"env", "apply", "-f", file, "--prune"}).exit, 2) << "what is lost is asked for";
  EXPECT_EQ(home.run({"env", "apply", "-f", file, "--prune", "--yes"}).exit, 0);
  EXPECT_TRUE(home.data({"env", "show", "prod"}).at("packs").as_array().empty());
}

}  // namespace env_apply_commands_test
}  // namespace sluice::cli
