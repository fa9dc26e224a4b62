// sluice credentials on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace credentials_commands_test {

TEST(CredentialsCommands, RequirementsOfAnUnknownEnvironment) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"credentials", "requirements", "none"}).exit, 5);
}

TEST(CredentialsCommands, RequirementsOfLocalPass) {
  ObjectsHome home;
  Ran ran = home.run({"credentials", "requirements", "local"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::HasSubstr("local-process.home.writable"));
}

}  // namespace credentials_commands_test
}  // namespace sluice::cli
