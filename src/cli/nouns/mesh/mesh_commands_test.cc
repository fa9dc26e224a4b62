// sluice mesh on the examples; what the rules are is tested where they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing_source.h"
#include "cli/testing_commands.h"

namespace sluice::cli {
namespace mesh_commands_test {

using testing::HasSubstr;

struct MeshCommands : testing::Test {
  MeshCommands() { add_mesh_commands(commands); }
  Ran run(std::vector<std::string> words) { return run_line(commands, words); }

  Commands commands;
  std::string folder = std::string(kSourceDir) + "/examples/mesh";
};

TEST_F(MeshCommands, VerifyShowsWhoSigned) {
  auto ran = run({"mesh", "verify", folder + "/alpha", "--trust", folder + "/trust.json"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("alpha/ctrl/vertex/rete         17  spiffe://acme/control-plane/primary     never\n"));
  EXPECT_EQ(ran.err, "verified 4 artifacts of 1 nodes\n");
}

TEST_F(MeshCommands, VerifyOfOneArtifact) {
  EXPECT_EQ(
      run({"mesh", "verify", folder + "/alpha/mgmt/vertices/public.json", "--trust", folder + "/trust.json"}).exit, 0);
  EXPECT_EQ(run({"mesh", "verify", folder + "/none", "--trust", folder + "/trust.json"}).exit, 5);
  EXPECT_EQ(run({"mesh", "verify", folder + "/alpha", "--trust", folder + "/alpha/mgmt/agent.json"}).exit, 1);
}

TEST_F(MeshCommands, JoinPrintsEachRule) {
  auto ran =
      run({"mesh", "join", folder + "/alpha/mgmt/vertices/rete.json", folder + "/alpha/ctrl/vertices/rete.json"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "holds   1  every active link is one of the operator's links\n"
            "holds   2  every label is of an active link\n"
            "holds   3  every binding is of a pair that the operator allows\n"
            "holds   4  every label that comes in on a link means one thing\n"
            "holds   5  ctrl has seen the mgmt version that is held\n");
  EXPECT_EQ(
      run({"mesh", "join", folder + "/alpha/mgmt/vertices/public.json", folder + "/alpha/ctrl/vertices/rete.json"})
          .exit,
      1);
}

TEST_F(MeshCommands, SchemaIsJson) {
  auto ran = run({"mesh", "schema", "ctrl"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, HasSubstr("urn:sluice:schema:mesh-ctrl"));
}

}  // namespace mesh_commands_test
}  // namespace sluice::cli
