// sluice router where it cannot run; running, it is tested in src/router and tests/router.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/testing_flows.h"

namespace sluice::cli {
namespace router_commands_test {

TEST(RouterCommands, RunNeedsSomebodyToObey) {
  TestingHome home;
  Ran done = home.run({"router", "run"});
  EXPECT_EQ(done.exit, 5);
  EXPECT_NE(done.err.find("this home has no operator's key yet, so the router would obey nobody"), std::string::npos);
  EXPECT_NE(done.err.find("--table FILE"), std::string::npos);
}

TEST(RouterCommands, RunRefusesATableThatIsNotThere) {
  TestingHome home;
  Ran done = home.run({"router", "run", "--table", home.path("none.json"), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(done.exit, 5);
}

TEST(RouterCommands, RunRefusesANameThatIsNone) {
  TestingHome home;
  Ran done = home.run({"router", "run", "--name", "../x", "--table", "t"});
  EXPECT_EQ(done.exit, 2);
  EXPECT_EQ(done.err, "error: --name: expected at most 40 letters, digits, - and _\nnext:  sluice help router run\n");
  EXPECT_FALSE(std::filesystem::exists(home.path("router")));
}

TEST(RouterCommands, RunRefusesThreadsAndAddressesThatAreNone) {
  TestingHome home;
  for (const char* threads : {"0", "65"}) {
    Ran done = home.run({"router", "run", "--threads", threads, "--table", "t"});
    EXPECT_EQ(done.exit, 2);
    EXPECT_EQ(done.err, "error: --threads: expected 1 to 64\nnext:  sluice help router run\n");
  }
  for (const char* option : {"--listen", "--admin"}) {
    Ran done = home.run({"router", "run", option, "nowhere", "--table", "t"});
    EXPECT_EQ(done.exit, 2);
    EXPECT_EQ(done.err, "error: " + std::string(option) +
                            ": 'nowhere' is no address; expected 127.0.0.1:8080, [::1]:8080 or unix:/path\n"
                            "next:  sluice help router run\n");
  }
  EXPECT_FALSE(std::filesystem::exists(home.path("router")));
}

TEST(RouterCommands, RunRefusesAFileWithoutKeys) {
  TestingHome home;
  Ran done = home.run({"router", "run", "--trust", "/dev/null"});
  EXPECT_EQ(done.exit, 1);
  EXPECT_NE(done.err.find("/dev/null has no public key in PEM"), std::string::npos);
}

TEST(RouterCommands, StatsSayThatNoneRuns) {
  TestingHome home;
  Ran done = home.run({"router", "stats"});
  EXPECT_EQ(done.exit, 1);
  EXPECT_NE(done.err.find("no router listens at "), std::string::npos);
  EXPECT_TRUE(done.err.ends_with("\nnext:  sluice router run\n")) << done.err;
  done = home.run({"router", "stats", "--name", "eu"});
  EXPECT_TRUE(done.err.ends_with("\nnext:  sluice router run --name eu\n")) << done.err;
}

TEST(RouterCommands, StatsAreDrawnAgainAfterATimeThatPeopleCanWait) {
  TestingHome home;
  for (const char* bad : {"0s", "99ms", "2h"}) {
    Ran done = home.run({"router", "stats", "--interval", bad});
    EXPECT_EQ(done.exit, 2);
    EXPECT_NE(done.err.find("--interval: expected 100ms to 1h"), std::string::npos) << done.err;
  }
}

}  // namespace router_commands_test
}  // namespace sluice::cli
