// sluice mesh from an empty folder to signed artifacts, as an operator sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "cli/testing_commands.h"

namespace sluice::cli {
namespace mesh_folder_commands_test {

using testing::HasSubstr;

struct MeshFolderCommands : testing::Test {
  MeshFolderCommands() { add_mesh_commands(commands); }
  Ran run(std::vector<std::string> words) { return run_line(commands, words); }
  void replace(const std::string& name, std::string_view old, std::string_view now) {
    std::string all = read_file(disk, folder + "/" + name, 1 << 20).value();
    const size_t at = all.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    all.replace(at, old.size(), now);
    ASSERT_TRUE(write_atomically(disk, folder + "/" + name, all, 0644));
  }

  RealDisk disk;
  TestingFolder place;
  Commands commands;
  std::string folder = place.path("acme");
};

TEST_F(MeshFolderCommands, FromNothingToSigned) {
  auto made = run({"mesh", "init", folder});
  EXPECT_EQ(made.exit, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr(folder + "/nodes.yaml\n"));
  auto early = run({"mesh", "plan", folder});
  EXPECT_EQ(early.exit, 1);
  EXPECT_THAT(early.err, HasSubstr("next: sluice mesh ca " + folder));
  EXPECT_EQ(run({"mesh", "ca", folder}).exit, 0);
  auto planned = run({"mesh", "plan", folder, "--exit-code"});
  EXPECT_EQ(planned.exit, 3);
  EXPECT_THAT(planned.out, HasSubstr("gains   user/alice at laptop → service/api\n"));
  EXPECT_THAT(planned.out, HasSubstr("restart web/rete: added\n"));
  EXPECT_THAT(planned.out, HasSubstr("3 nodes get a new version: hub, laptop, web\n"));
  auto compiled = run({"mesh", "compile", folder});
  EXPECT_EQ(compiled.exit, 0) << compiled.err;
  EXPECT_THAT(compiled.out, HasSubstr(folder + "/drafts/web/ctrl/vertices/rete.json\n"));
  auto done = run({"mesh", "sign", folder});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(done.out, "signed  hub version 1\nsigned  laptop version 1\nsigned  web version 1\n");
  EXPECT_EQ(run({"mesh", "sign", folder}).err, "nothing changed; nothing was signed\n");
  EXPECT_EQ(run({"mesh", "plan", folder, "--exit-code"}).out, "The signed artifacts say what the sources say.\n");
  EXPECT_EQ(run({"mesh", "verify", folder + "/compiled", "--trust", folder + "/trust.json"}).exit, 0);
}

TEST_F(MeshFolderCommands, TraceShowsHopsLinksAndLabels) {
  run({"mesh", "init", folder});
  run({"mesh", "ca", folder});
  run({"mesh", "sign", folder});
  auto traced = run({"mesh", "trace", "user/alice", "service/api", "--folder", folder});
  EXPECT_EQ(traced.exit, 0) << traced.err;
  EXPECT_EQ(traced.out,
            "user/alice at laptop → service/api at web\n"
            "  there  laptop/rete  link hub  label 17\n"
            "         hub/rete  link web  label 16\n"
            "  back   web/rete  link hub  label 16\n"
            "         hub/rete  link laptop  label 17\n");
  auto none = run({"mesh", "trace", "user/olga", "service/api", "--folder", folder});
  EXPECT_EQ(none.exit, 5);
  EXPECT_THAT(none.err, HasSubstr("user/olga may not reach service/api"));
}

TEST_F(MeshFolderCommands, FaultsAreShownAllAtOnce) {
  run({"mesh", "init", folder});
  run({"mesh", "ca", folder});
  replace("access.yaml", "groups: [api] }", "groups: [apis] }");
  replace("nodes.yaml", "a: hub, b: web", "a: hub, b: wob");
  auto ran = run({"mesh", "compile", folder});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, HasSubstr("access.yaml:"));
  EXPECT_THAT(ran.err, HasSubstr("nodes.yaml:"));
}

TEST_F(MeshFolderCommands, ABundleOpensWithItsPassphraseAlone) {
  run({"mesh", "init", folder});
  run({"mesh", "ca", folder});
  run({"mesh", "sign", folder});
  const std::string file = place.path("web.bundle");
  auto made = run({"mesh", "bundle", "web", "--folder", folder, "--out", file});
  EXPECT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(made.out.size(), 25U) << "a passphrase of 18 bytes";
  EXPECT_THAT(read_file(disk, file, 1 << 20).value(), HasSubstr("sluice.mesh.bundle.v1"));
  EXPECT_EQ(run({"mesh", "bundle", "nobody", "--folder", folder}).exit, 5);
}

}  // namespace mesh_folder_commands_test
}  // namespace sluice::cli
