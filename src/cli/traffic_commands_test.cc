// sluice traffic on a home of its own. What really gets requests is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace traffic_commands_test {

using testing::HasSubstr;

TEST(TrafficCommands, SayWhatIsNoSplit) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"traffic", "show", "local"}).exit, 5);
  home.data({"bundles", "add", "local", home.archive()});
  EXPECT_THAT(home.run({"traffic", "show", "local"}).out, HasSubstr("no split\nNobody gets anything.\n"));
  EXPECT_EQ(home.run({"traffic", "history", "local"}).out, "There was no split yet.\n");
  Ran early = home.run({"traffic", "set", "local", "shop@1=100%"});
  EXPECT_EQ(early.exit, 6);
  EXPECT_THAT(early.err, HasSubstr("is not a ready revision of"));
  EXPECT_THAT(home.run({"traffic", "set", "local", "shop@1=99%"}).err, HasSubstr("the weights sum to 9900 bps"));
  EXPECT_EQ(home.run({"traffic", "set", "local", "shop@1=lots"}).exit, 2);
  EXPECT_EQ(home.run({"traffic", "set", "local", "shop@9=100%"}).exit, 5);
  EXPECT_EQ(home.run({"traffic", "rollback", "local"}).exit, 5);
  EXPECT_EQ(home.run({"traffic", "clear", "local", "--yes"}).exit, 5);
}

}  // namespace traffic_commands_test
}  // namespace sluice::cli
