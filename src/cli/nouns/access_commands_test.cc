// sluice access in a home of its own; over HTTP it is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace access_commands_test {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(AccessCommands, ThePolicySaysWhoMayWhat) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"access", "policy", "show"}).out,
            "No policy was applied yet: only the home's owner may do anything.\n");
  const std::string file = home.folder.path("policy.yaml");
  std::ofstream(file) << "schema: sluice.access-policy.v1\ngrants:\n"
                         "- {to: [user:ann], role: admin}\n"
                         "- {to: [user:dan], role: deployer, environments: [staging]}\n";
  EXPECT_EQ(home.run({"access", "policy", "test", file, "Traffic/set", "--as", "user:dan", "--env", "prod"}).exit, 4);
  EXPECT_THAT(home.run({"access", "policy", "apply", file}).out, HasSubstr("applied  version 1, grants: 2"));
  EXPECT_EQ(home.run({"access", "policy", "apply", file, "--number", "7"}).exit, 6);
  EXPECT_EQ(home.run({"access", "policy", "apply"}).exit, 2);
  EXPECT_THAT(home.run({"access", "whoami"}).out, HasSubstr(", owner of this home"));
  EXPECT_EQ(home.run({"access", "can", "Traffic/set", "--env", "staging"}).exit, 0);
  EXPECT_EQ(home.run({"access", "explain", "user:dan", "Traffic/set", "--env", "staging"}).out,
            "allowed  Traffic/set: grant 2 gives user:dan deployer in staging\n");
}

TEST(AccessCommands, ATokenIsShownOnceAndCanBeRevoked) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"access", "tokens", "create", "laptop"}).exit, 2);
  auto made = home.run({"access", "tokens", "create", "laptop", "--for", "user:ann"});
  EXPECT_THAT(made.out, MatchesRegex("slt_[0-9A-Z]{26}_[-_A-Za-z0-9]{43}\n"));
  const std::string id = made.out.substr(4, 26);
  EXPECT_THAT(home.run({"access", "tokens", "list"}).out, HasSubstr(id));
  EXPECT_EQ(home.run({"access", "tokens", "create", "laptop", "--for", "user:ann"}).exit, 6);
  EXPECT_EQ(home.run({"access", "tokens", "revoke", id}).out, "revoked  laptop of user:ann\n");
  EXPECT_EQ(home.run({"access", "tokens", "revoke", "none"}).exit, 5);
  EXPECT_EQ(home.run({"access", "tokens", "revoke"}).exit, 2);
}

TEST(AccessCommands, SessionsAreListedAndEnded) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"access", "sessions", "list"}).out, "Nobody has logged in with a browser.\n");
  EXPECT_EQ(home.run({"access", "sessions", "end"}).exit, 2);
  EXPECT_EQ(home.run({"access", "sessions", "end", "none"}).exit, 5);
}

}  // namespace access_commands_test
}  // namespace sluice::cli
