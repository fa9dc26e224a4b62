// sluice env resolve, diff and promote where nothing is deployed; the rest is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace env_manifest_commands_test {

using testing::HasSubstr;

TEST(EnvManifestCommands, SayWhatIsNotThere) {
  ObjectsHome home;
  EXPECT_THAT(home.run({"env", "resolve", "local"}).err, HasSubstr("no manifest was executed in local"));
  EXPECT_THAT(home.run({"env", "diff", "local", "local"}).err, HasSubstr("no manifest was executed in local"));
  EXPECT_THAT(home.run({"deploy", "diff", "local", "local"}).err, HasSubstr("no manifest was executed in local"));
  EXPECT_EQ(home.run({"env", "promote", "local", "prod"}).exit, 2);
  EXPECT_THAT(home.run({"env", "promote", "local", "prod", "--kit", "shop"}).err,
              HasSubstr("there is no environment prod"));
}

}  // namespace env_manifest_commands_test
}  // namespace sluice::cli
