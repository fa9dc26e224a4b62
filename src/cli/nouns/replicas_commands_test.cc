// sluice replicas where nothing serves, and homes that cannot join; with real replicas it is tested in tests/store.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/testing_flows.h"

namespace sluice::cli {
namespace replicas_commands_test {

TEST(ReplicasCommands, WhereNothingServesNobodyKnowsOfReplicas) {
  TestingHome home;
  for (const char* verb : {"list", "token"}) {
    Ran done = home.run({"replicas", verb});
    EXPECT_EQ(done.exit, 5);
    EXPECT_EQ(done.err,
              "error: sluice serve does not run, so nobody here knows of replicas\n"
              "next:  sluice serve --replica NAME --store postgresql://USER@HOST/DATABASE\n");
  }
}

TEST(ReplicasCommands, AHomeJoinsWithAToken) {
  TestingHome home;
  Ran done = home.run({"replicas", "join", "https://sluice.example:8443"});
  EXPECT_EQ(done.exit, 2);
  EXPECT_NE(done.err.find("a home joins with a token, which is missing"), std::string::npos) << done.err;
}

TEST(ReplicasCommands, AHomeThatIsInUseDoesNotJoin) {
  TestingHome home;
  std::filesystem::create_directories(home.path("keys"));
  { std::ofstream(home.path("keys/operator.pem")) << "a key"; }
  Ran done = home.run({"replicas", "join", "https://sluice.example:8443", "--token", "slj_x"});
  EXPECT_EQ(done.exit, 6);
  EXPECT_NE(done.err.find("this home is in use already: there is " + home.path("keys/operator.pem")), std::string::npos)
      << done.err;
}

TEST(ReplicasCommands, AReplicaNeedsASharedStoreAndAnAddressThatIsOne) {
  TestingHome home;
  Ran alone = home.run({"serve", "--replica", "east"});
  EXPECT_EQ(alone.exit, 2);
  EXPECT_NE(alone.err.find("a replica needs a store that it shares with others"), std::string::npos) << alone.err;
  Ran other = home.run({"serve", "--store", "mysql://db.example/x"});
  EXPECT_EQ(other.exit, 2);
  EXPECT_NE(other.err.find("the address of a store begins with postgresql://"), std::string::npos) << other.err;
  EXPECT_FALSE(std::filesystem::exists(home.path("store")));
}

}  // namespace replicas_commands_test
}  // namespace sluice::cli
