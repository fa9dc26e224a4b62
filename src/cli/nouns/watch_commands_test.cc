// What is staged and not served; rollouts, keys and redrawing are tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace watch_commands_test {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(WatchCommands, PrintsTheTreeOnce) {
  ObjectsHome home;
  home.data({"bundles", "add", "local", home.archive()});
  Ran shown = home.run({"watch", "--once"});
  EXPECT_EQ(shown.exit, 0) << shown.err;
  EXPECT_THAT(shown.out, MatchesRegex("local, no router\n"
                                      "└─ shop for local-dev \\([0-9A-Z]+\\)\n"
                                      "   └─ shop@1 staged, asked 0%, no router serves it yet\n"));
  json::value data = json::parse(home.run({"watch", "--once", "-o", "json"}).out);
  EXPECT_EQ(data.at("rollouts"), json::value(json::array()));
  EXPECT_EQ(data.at("environments").as_array().size(), 1U);
}

TEST(WatchCommands, LooksInOneEnvironmentAlone) {
  ObjectsHome home;
  home.data({"bundles", "add", "local", home.archive()});
  EXPECT_EQ(home.run({"watch", "--once", "--env", "elsewhere"}).out, "");
}

}  // namespace watch_commands_test
}  // namespace sluice::cli
