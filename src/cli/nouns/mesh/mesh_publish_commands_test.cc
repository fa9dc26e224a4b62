// sluice mesh publish, into a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "cli/testing_commands.h"

namespace sluice::cli {
namespace mesh_publish_commands_test {

using testing::HasSubstr;

struct MeshPublishCommands : testing::Test {
  MeshPublishCommands() {
    add_mesh_commands(commands);
    run({"mesh", "init", folder});
    run({"mesh", "ca", folder});
  }
  Ran run(const std::vector<std::string>& words) {
    return run_line(commands, words, {},
                    {.variables = {{"HOME", place.path("")}, {"SLUICE_HOME", place.path("home")}}});
  }

  RealDisk disk;
  TestingFolder place;
  Commands commands;
  std::string folder = place.path("acme");
};

TEST_F(MeshPublishCommands, NothingThatIsNotSignedIsPublished) {
  auto ran = run({"mesh", "publish", folder});
  EXPECT_EQ(ran.exit, 5);
  EXPECT_THAT(ran.err, HasSubstr("nothing is signed in " + folder));
}

}  // namespace mesh_publish_commands_test
}  // namespace sluice::cli
