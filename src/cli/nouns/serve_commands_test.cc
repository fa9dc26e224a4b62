// sluice status and stop where nothing runs; with something that runs they are tested in cli/serving_test.cc and
// tests/serve.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "cli/testing_flows.h"

namespace sluice::cli {
namespace serve_commands_test {

TEST(ServeCommands, StatusSaysThatNothingRuns) {
  TestingHome home;
  Ran done = home.run({"status"});
  EXPECT_EQ(done.exit, 5);
  EXPECT_EQ(done.out, "not running\n");
  EXPECT_EQ(done.err, "The control plane does not run; next: sluice serve\n");
  EXPECT_EQ(json::parse(home.run({"status", "-o", "json"}).out),
            (json::value{{"running", false}, {"socket", home.path("run/sluice.sock")}}));
  EXPECT_FALSE(std::filesystem::exists(home.path("run")));
}

TEST(ServeCommands, StopIsContentIfNothingRuns) {
  TestingHome home;
  Ran done = home.run({"stop"});
  EXPECT_EQ(done.exit, 0);
  EXPECT_EQ(done.out, "not running\n");
}

TEST(ServeCommands, ConsoleSaysWhatToStartFirst) {
  TestingHome home;
  Ran done = home.run({"console"});
  EXPECT_EQ(done.exit, 5);
  EXPECT_NE(done.err.find("sluice serve does not run, so there is no console"), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("sluice serve --listen"), std::string::npos) << done.err;
}

TEST(ServeCommands, ServeRefusesWhatIsNoKit) {
  TestingHome home;
  Ran done = home.run({"serve", home.path("none")});
  EXPECT_EQ(done.exit, 5);
  EXPECT_FALSE(std::filesystem::exists(home.path("store")));
}

}  // namespace serve_commands_test
}  // namespace sluice::cli
