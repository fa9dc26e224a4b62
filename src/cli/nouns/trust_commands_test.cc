// sluice trust on a home of its own: what each command prints, refuses and leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/trust/trust_root.h"
#include "cli/testing_commands.h"
#include "crypto/ed25519.h"
#include "crypto/key_file.h"
#include "deploy/deploy_kit.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {
namespace trust_commands_test {

using testing::HasSubstr;

struct TrustCommands : testing::Test {
  TrustCommands() { EXPECT_TRUE(write_atomically(disk, file, key.public_key().to_pem(), 0644)); }

  Ran run(std::vector<std::string> words) {
    words.insert(words.begin(), "trust");
    return run_line(commands, words, {}, {{{"SLUICE_HOME", folder.path("home")}}, "", &loaded});
  }
  bundle::TrustRoot root() { return bundle::parse_trust_root(run({"export"}).out).value(); }
  std::string operator_id() {
    return crypto::load_private_key(disk, folder.path("home/keys/operator.pem"))->public_key().key_id();
  }

  TestingFolder folder;
  RealDisk disk;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  const std::string id = key.public_key().key_id();
  const std::string file = folder.path("ann.pub");
  host::LoadedConcepts loaded{.concepts = deploy::concepts()};
  Commands commands = all_commands();
};

TEST_F(TrustCommands, ANewHomeTrustsNobodyAndReadingMakesNone) {
  auto listed = run({"list"});
  EXPECT_EQ(listed.exit, 0);
  EXPECT_EQ(listed.out, "Nobody is trusted. sluice trust bootstrap trusts this home's own key.\n");
  EXPECT_EQ(run({"list", "-o", "json"}).out, "{\n  \"keys\": [],\n  \"groups\": []\n}\n");
  EXPECT_EQ(run({"export"}).out, R"({"groups":[],"keys":[],"schema":"sluice.trust-root.v1"})"
                                 "\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path("home")));
}

TEST_F(TrustCommands, BootstrapTrustsTheHomesOwnKey) {
  auto done = run({"bootstrap"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(done.out, "trusted  " + operator_id() + "  for all bundles in local\n");
  EXPECT_EQ(run({"bootstrap", "--env", "staging"}).out,
            "trusted  " + operator_id() + "  for all bundles in local, staging\n");
  ASSERT_EQ(root().keys.size(), 1U);
  EXPECT_EQ(root().keys[0].label, "operator");
}

TEST_F(TrustCommands, ARemovedKeyStaysRemovedUntilBootstrap) {
  run({"bootstrap"});
  std::string own = operator_id();
  EXPECT_EQ(run({"remove", own}).out, "removed  " + own + "\n");
  EXPECT_TRUE(root().keys.empty());
  run({"bootstrap"});
  EXPECT_EQ(root().keys.size(), 1U);
}

TEST_F(TrustCommands, AddKeepsTheScope) {
  auto done = run({"add",          file,
                   "--env",        "prod-*",
                   "--env",        "staging",
                   "--bundle",     "shop",
                   "--label",      "Ann",
                   "--not-before", "2020-01-31",
                   "--expires",    "2090-01-31T12:00:00Z",
                   "--group",      "release",
                   "--threshold",  "2",
                   "--reason",     "new colleague"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(done.out, "trusted  " + id + "\n");
  EXPECT_EQ(root().keys, (std::vector<bundle::TrustedKey>{{.key = key.public_key(),
                                                           .label = "Ann",
                                                           .environments = {"prod-*", "staging"},
                                                           .bundles = {"shop"},
                                                           .not_before_ms = 1'580'428'800'000,
                                                           .expires_ms = 3'789'547'200'000,
                                                           .group = "release"}}));
  EXPECT_EQ(
      run({"list"}).out,
      "KEY                               LABEL  STATUS  ENVIRONMENTS     BUNDLES  EXPIRES                   GROUP "
      "                         REASON\n" +
          id + "  Ann    good    prod-*, staging  shop     2090-01-31T12:00:00.000Z  release, 2 of 1: too few keys\n");
}

TEST_F(TrustCommands, AddSaysWhatIsMissingOrWrong) {
  EXPECT_EQ(run({"add", file}).err,
            "error: say for which environments the key may sign\nnext:  add --env staging, or --env '*' for all\n");
  EXPECT_EQ(run({"add", folder.path("none"), "--env", "x"}).exit, 5);
  EXPECT_THAT(run({"add", file, "--env", "x", "--expires", "soon"}).err,
              HasSubstr("--expires is a time such as 2030-01-31, 2030-01-31T12:00:00Z or 365d, not 'soon'"));
  std::string secret = folder.path("ann.pem");
  ASSERT_TRUE(write_atomically(disk, secret, key.to_pem().reveal(), 0600));
  auto refused = run({"add", secret, "--env", "x"});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_EQ(refused.err, "error: " + secret +
                             " holds a private key, which belongs in no trust root\nnext:  openssl pkey -in " + secret +
                             " -pubout\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path("home")));
  EXPECT_EQ(run({"add", file, "--env", "two words"}).exit, 1);
}

TEST_F(TrustCommands, AddRefusesWhatIsNoKeyAndAThresholdOfNobody) {
  ASSERT_TRUE(write_atomically(disk, folder.path("bin"), "\xff\xfe\x01", 0644));
  auto done = run({"add", folder.path("bin"), "--env", "local"});
  EXPECT_EQ(done.exit, 1);
  EXPECT_THAT(done.err, HasSubstr("error: " + folder.path("bin") + " holds no public key that Sluice knows: "));
  done = run({"add", file, "--env", "local", "--threshold", "2"});
  EXPECT_EQ(done.exit, 2);
  EXPECT_EQ(done.err, "error: only a group has a threshold\nnext:  add --group NAME\n");
  done = run({"threshold", "release", "0"});
  EXPECT_EQ(done.exit, 2);
  EXPECT_EQ(done.err, "error: a threshold is 1 to 16, not 0\nnext:  sluice help trust threshold\n");
  done = run({"add", file, "--env", "local", "--group", "release", "--threshold", "0"});
  EXPECT_EQ(done.exit, 2);
  EXPECT_EQ(done.err, "error: --threshold is 1 to 16, not 0\nnext:  sluice help trust add\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path("home")));
}

TEST_F(TrustCommands, AKeyThatCountsForNothingIsTakenWithAWord) {
  auto done = run({"add", file, "--env", "local", "--expires", "2001-01-01", "--group", "release", "--threshold", "2"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_THAT(done.err,
              HasSubstr("warning: the key expired at 2001-01-01T00:00:00.000Z: nothing that it signs counts\n"));
  EXPECT_THAT(run({"list"}).out, HasSubstr("release, 2 of 0: too few keys"));
}

TEST_F(TrustCommands, AddRefusesAnotherScopeAndAnotherThreshold) {
  run({"add", file, "--env", "staging", "--group", "release", "--threshold", "2"});
  auto other = run({"add", file, "--env", "prod", "--group", "release"});
  EXPECT_EQ(other.exit, 6);
  EXPECT_EQ(other.err, "error: key " + id + " is trusted already, with another scope\nnext:  sluice trust remove " +
                           id + ", then add it again\n");
  std::string second = folder.path("bob.pub");
  ASSERT_TRUE(write_atomically(disk, second, crypto::PrivateKey::generate().public_key().to_pem(), 0644));
  auto threshold = run({"add", second, "--env", "staging", "--group", "release", "--threshold", "1"});
  EXPECT_EQ(threshold.exit, 6);
  EXPECT_EQ(
      threshold.err,
      "error: group release has the threshold 2\nnext:  leave --threshold out, or: sluice trust threshold release "
      "N\n");
  EXPECT_EQ(run({"threshold", "release", "1"}).out, "set  release\n");
  EXPECT_EQ(root().groups, (std::vector<bundle::TrustGroup>{{"release", 1}}));
  EXPECT_EQ(run({"threshold", "none", "1"}).err,
            "error: there is no group none in the trust root\nnext:  sluice trust list\n");
}

TEST_F(TrustCommands, RevokeIsForEverAndSaysWhy) {
  run({"add", file, "--env", "staging"});
  auto without = run({"revoke", id});
  EXPECT_EQ(without.exit, 2);
  EXPECT_THAT(without.err, HasSubstr("next:  add --reason 'lost with a laptop'\n"));
  auto done = run({"revoke", id, "--reason", "lost"});
  EXPECT_EQ(done.out, "revoked  " + id + "\n");
  EXPECT_EQ(root().keys[0].revocation->reason, "lost");
  for (std::vector<std::string> words : {std::vector<std::string>{"remove", id}, {"add", file, "--env", "staging"}}) {
    auto refused = run(words);
    EXPECT_EQ(refused.exit, 6);
    EXPECT_EQ(refused.err, "error: key " + id + " is revoked, and stays so: lost\nnext:  use another key\n");
  }
  EXPECT_EQ(run({"revoke", "00", "--reason", "lost"}).exit, 5);
}

TEST_F(TrustCommands, SaysInJsonWhatCameOfIt) {
  json::object done = json::parse(run({"add", file, "--env", "staging", "-o", "json"}).out).as_object();
  EXPECT_EQ(done.at("key"), json::value(id));
  EXPECT_EQ(done.at("flow").as_string().size(), 26U);
  json::object listed = json::parse(run({"list", "-o", "json"}).out).as_object();
  EXPECT_EQ(listed.at("keys").at(0).at("status"), "good");
}

TEST_F(TrustCommands, ASecondCallWithOneKeyJoinsTheFirst) {
  auto first = run({"add", file, "--env", "staging", "--idempotency-key", "k1", "-o", "json"});
  run({"remove", id});
  EXPECT_EQ(run({"add", file, "--env", "staging", "--idempotency-key", "k1", "-o", "json"}).out, first.out);
  EXPECT_TRUE(root().keys.empty());
  EXPECT_EQ(run({"add", file, "--env", "prod", "--idempotency-key", "k1"}).exit, 6);
}

TEST_F(TrustCommands, EveryDecisionIsInTheAudit) {
  run({"add", file, "--env", "staging", "--reason", "new colleague"});
  auto audit =
      run_line(commands, {"audit", "list", "-o", "json"}, {}, {{{"SLUICE_HOME", folder.path("home")}}, "", &loaded});
  json::value first = json::parse(audit.out).at(0);
  EXPECT_EQ(first.at("action"), "Trust/add");
  EXPECT_EQ(first.at("reason"), "new colleague");
}

TEST_F(TrustCommands, ExportWritesAFile) {
  run({"add", file, "--env", "staging"});
  auto done = run({"export", "--out", folder.path("root.json")});
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(read_file(disk, folder.path("root.json"), 1 << 20).value(), run({"export"}).out);
}

}  // namespace trust_commands_test
}  // namespace sluice::cli
