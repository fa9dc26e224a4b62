// sluice bounds on a table: proposed, judged, signed, shown and verified.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_source.h"
#include "cli/testing_commands.h"
#include "crypto/ed25519.h"

namespace sluice::cli {
namespace bounds_commands_test {

using testing::HasSubstr;

struct BoundsCommands : testing::Test {
  BoundsCommands() {
    add_bounds_commands(commands);
    const auto key = crypto::PrivateKey::generate();
    EXPECT_TRUE(write_atomically(disk, place.path("key"), key.to_pem().reveal(), 0600));
    EXPECT_TRUE(write_atomically(disk, place.path("pub"), key.public_key().to_pem(), 0644));
  }
  Ran run(std::vector<std::string> words) { return run_line(commands, words); }

  RealDisk disk;
  TestingFolder place;
  Commands commands;
  std::string folder = std::string(kSourceDir) + "/examples/mesh";
};

TEST_F(BoundsCommands, AreProposedFromWhatIsServed) {
  auto ran = run({"bounds", "plan", "--table", folder + "/table.json"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"schema\": \"sluice.router-bounds.v1\""));
  ASSERT_TRUE(write_atomically(disk, place.path("mine.yaml"), ran.out, 0644));
  auto judged = run({"bounds", "plan", place.path("mine.yaml"), "--table", folder + "/table.json"});
  EXPECT_EQ(judged.exit, 0) << judged.err;
  EXPECT_EQ(judged.out, "Every deployment is within the bounds.\n");
}

TEST_F(BoundsCommands, PlanNamesWhatWouldBeQuarantined) {
  auto ran = run({"bounds", "plan", folder + "/bounds.yaml", "--table", folder + "/table.json"});
  EXPECT_EQ(ran.exit, 7);
  EXPECT_THAT(ran.out, HasSubstr("the host admin.shop.example"));
  EXPECT_THAT(ran.err, HasSubstr("1 of 2 deployments would be served"));
}

TEST_F(BoundsCommands, AreSignedShownAndVerified) {
  const std::string out = place.path("signed");
  auto made = run({"bounds", "sign", folder + "/bounds.yaml", "--key", place.path("key"), "--out", out});
  EXPECT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(made.out, "signed  " + out + "  version 1\n");
  EXPECT_EQ(run({"bounds", "sign", folder + "/bounds.yaml", "--key", place.path("key"), "--out", out}).exit, 0)
      << "the same again";
  EXPECT_THAT(run({"bounds", "show", out}).out, HasSubstr("\"environment\": \"prod\""));
  auto verified = run({"bounds", "verify", out, "--trust", place.path("pub")});
  EXPECT_EQ(verified.exit, 0) << verified.err;
  EXPECT_EQ(verified.out, "verified  version 1 for prod, without an end\n");
  ASSERT_TRUE(write_atomically(disk, place.path("pub"), crypto::PrivateKey::generate().public_key().to_pem(), 0644));
  EXPECT_EQ(run({"bounds", "verify", out, "--trust", place.path("pub")}).exit, 11);
  EXPECT_EQ(run({"bounds", "verify", out}).exit, 2);
}

TEST_F(BoundsCommands, ANewerVersionIsNotReplacedByAnOlderOne) {
  const std::string out = place.path("signed"), file = place.path("b.yaml");
  std::string text = read_file(disk, folder + "/bounds.yaml", 1 << 20).value();
  ASSERT_TRUE(write_atomically(disk, file, text, 0644));
  ASSERT_EQ(run({"bounds", "sign", file, "--key", place.path("key"), "--out", out}).exit, 0);
  ASSERT_TRUE(write_atomically(disk, file, text + "# another\nexpires_at: '2999-01-01T00:00:00Z'\n", 0644));
  auto ran = run({"bounds", "sign", file, "--key", place.path("key"), "--out", out});
  EXPECT_EQ(ran.exit, 6);
  EXPECT_THAT(ran.err, HasSubstr("raise `version`"));
}

}  // namespace bounds_commands_test
}  // namespace sluice::cli
