// sluice config on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace config_commands_test {

using testing::HasSubstr;

TEST(ConfigCommands, SetAndShow) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"config", "show", "local"}).out, "Nothing is configured.\n");
  EXPECT_EQ(home.run({"config", "set", "local", "region=eu", "listen_addr=127.0.0.1:8080"}).out,
            "set  local, generation 1\n");
  EXPECT_EQ(home.data({"config", "show", "local"}).at("host_config").at("region"), json::value("eu"));
  EXPECT_THAT(home.run({"config", "show", "local"}).out, HasSubstr("region       eu              operator"));
  EXPECT_EQ(home.run({"config", "set", "local", "region"}).exit, 2);
  EXPECT_THAT(home.run({"config", "set", "local", "regoin=eu"}).err, HasSubstr("did you mean region?"));
  EXPECT_EQ(home.run({"config", "set", "none", "region=eu"}).exit, 5);
}

}  // namespace config_commands_test
}  // namespace sluice::cli
