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
  EXPECT_NE(done.err.find("--name: expected at most 40 letters, digits, - and _"), std::string::npos);
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
