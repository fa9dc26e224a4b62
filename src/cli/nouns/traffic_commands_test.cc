// sluice traffic on a home of its own. What really gets requests is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/clock.h"
#include "base/real_disk.h"
#include "cli/testing_objects.h"
#include "crypto/key_file.h"
#include "router/debug_token.h"

namespace sluice::cli {
namespace traffic_commands_test {

using testing::HasSubstr;

TEST(TrafficCommands, SayWhatIsNoSplit) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"traffic", "show", "local"}).exit, 5);
  home.data({"bundles", "add", "local", home.archive()});
  EXPECT_THAT(home.run({"traffic", "show", "local"}).out, HasSubstr("no split\nNo revision gets traffic.\n"));
  EXPECT_EQ(home.run({"traffic", "history", "local"}).out, "There was no split yet.\n");
  Ran early = home.run({"traffic", "set", "local", "shop@1=100%"});
  EXPECT_EQ(early.exit, 6);
  EXPECT_THAT(early.err, HasSubstr("is staged, not ready\nnext:  sluice revisions warm local 01"));
  EXPECT_THAT(home.run({"traffic", "set", "local", "shop@1=99%"}).err, HasSubstr("the weights sum to 9900 bps"));
  EXPECT_EQ(home.run({"traffic", "set", "local", "shop@1=lots"}).exit, 2);
  EXPECT_EQ(home.run({"traffic", "set", "local", "shop@9=100%"}).exit, 5);
  EXPECT_EQ(home.run({"traffic", "rollback", "local"}).exit, 6) << "the deployment is there, a split before is not";
  EXPECT_EQ(home.run({"traffic", "clear", "local", "--yes"}).exit, 5);
}

TEST(TrafficCommands, ATokenIsSignedByTheOperatorAndEnds) {
  ObjectsHome home;
  json::value added = home.data({"bundles", "add", "local", home.archive()});
  json::value made = home.data({"traffic", "token", "--bundle", "shop", "--revision", "shop@1", "--ttl", "1m"});
  RealDisk disk;
  auto key = crypto::load_private_key(disk, home.folder.path("home/keys/operator.pem")).value().public_key();
  auto token = ::sluice::router::read_debug_token(made.at("token").as_string(), {&key, 1});
  EXPECT_EQ(token.value().environment, "local");
  EXPECT_EQ(token->deployment, std::string(added.at("deployment").as_string()));
  EXPECT_EQ(token->revision, std::string(added.at("revision").as_string()));
  EXPECT_EQ(made.at("expires"), json::value(utc_text(token->expires_s * 1'000)));
  EXPECT_EQ(home.data({"traffic", "token"}).at("revision"), json::value("*"));
  for (const char* ttl : {"0s", "2d"}) {
    EXPECT_EQ(home.run({"traffic", "token", "--ttl", ttl}).err,
              "error: --ttl: expected 1s to 24h\nnext:  sluice help traffic token\n");
  }
  EXPECT_EQ(home.run({"traffic", "token", "--revision", "shop@9"}).exit, 5);
}

}  // namespace traffic_commands_test
}  // namespace sluice::cli
