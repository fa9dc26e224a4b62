// sluice secrets on a home of its own, as far as nothing has to be kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace secrets_commands_test {

using testing::HasSubstr;
using testing::Not;

TEST(SecretsCommands, AHomeWithoutSecretsSaysSo) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"secrets", "list", "local"}).out, "There are no secrets.\n");
  EXPECT_EQ(home.run({"secrets", "get", "local", "hello/KEY"}).exit, 5);
  EXPECT_EQ(home.run({"secrets", "rotate", "local", "hello/KEY"}).exit, 5);
  EXPECT_EQ(home.run({"secrets", "remove", "local", "hello/KEY", "--yes"}).exit, 5);
}

TEST(SecretsCommands, AValueOnTheCommandLineIsRefused) {
  ObjectsHome home;
  Ran refused = home.run({"secrets", "put", "local", "hello/KEY", "hunter2"});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, HasSubstr("sluice secrets put local hello/KEY --file FILE"));
  EXPECT_THAT(refused.err, Not(HasSubstr("hunter2")));
  EXPECT_EQ(home.run({"secrets", "put", "local", "hello/KEY"}).exit, 2) << "nothing was piped in";
}

TEST(SecretsCommands, AnEnvironmentWithoutAPackKeepsNone) {
  ObjectsHome home;
  home.run({"env", "create", "bare"});
  EXPECT_EQ(home.run({"secrets", "rotate", "bare", "hello/KEY"}).exit, 6);
  EXPECT_EQ(home.run({"secrets", "rekey", "bare"}).exit, 6);
}

}  // namespace secrets_commands_test
}  // namespace sluice::cli
