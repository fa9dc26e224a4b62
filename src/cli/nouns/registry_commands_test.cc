// sluice registry on a home of its own, as far as no registry is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace registry_commands_test {

using testing::HasSubstr;

TEST(RegistryCommands, AnEnvironmentWithoutLoginsSaysSo) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"registry", "list", "local"}).out, "There are no logins.\n");
  EXPECT_EQ(home.run({"registry", "logout", "local", "registry.example"}).exit, 5);
}

TEST(RegistryCommands, ALoginHasANameAndAPassword) {
  ObjectsHome home;
  Ran nameless = home.run({"registry", "login", "local", "registry.example"});
  EXPECT_EQ(nameless.exit, 2);
  EXPECT_THAT(nameless.err, HasSubstr("say with --username who logs in"));
  EXPECT_EQ(home.run({"registry", "login", "local", "registry.example", "--username", "ci"}).exit, 2)
      << "nothing was piped in";
}

}  // namespace registry_commands_test
}  // namespace sluice::cli
