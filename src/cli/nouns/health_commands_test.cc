// sluice health on a home of its own; what really answers is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace health_commands_test {

using testing::HasSubstr;

TEST(HealthCommands, SayWhatDoesNotAnswer) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"health", "check", "shop"}).exit, 5);
  home.data({"bundles", "add", "local", home.archive()});
  Ran none = home.run({"health", "check", "shop@1"});
  EXPECT_EQ(none.exit, 7);
  EXPECT_EQ(none.err, "error: shop@1 does not answer\nnext:  sluice why shop@1\n");
  EXPECT_EQ(home.run({"health", "check", "shop"}).exit, 0) << "its split names nothing yet";
  Ran path = home.run({"health", "path", "shop@1"});
  EXPECT_EQ(path.exit, 7);
  EXPECT_THAT(path.err, HasSubstr("error: shop@1 was not reached through the routers"));
  Ran tried = home.run({"health", "invariant", "shop@1"});
  EXPECT_EQ(tried.exit, 1);
  EXPECT_THAT(tried.err, HasSubstr("error: shop@1: nothing runs of it"));
}

}  // namespace health_commands_test
}  // namespace sluice::cli
