// sluice up where it ends before anything is started, and down; the rest is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace up_commands_test {

using testing::HasSubstr;

TEST(UpCommands, WithoutAManifestOneIsShown) {
  ObjectsHome home;
  std::filesystem::create_directory(home.folder.path("app"));
  Ran shown = home.run({"up", home.folder.path("app")});
  EXPECT_EQ(shown.exit, 5);
  EXPECT_EQ(shown.out, "name: app\nversion: \"0.1.0\"\nrun: [\"./app\"]\n");
  EXPECT_THAT(shown.err, HasSubstr("next:  sluice init " + home.folder.path("app")));
  EXPECT_FALSE(std::filesystem::exists(home.folder.path("home")));
}

TEST(UpCommands, RefusesWhatCannotBe) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"up", home.folder.path("none")}).exit, 5);
  EXPECT_EQ(home.run({"up", home.archive(), "--canary", "100%"}).err,
            "error: --canary: expected a share between 0% and 100%\n");
  EXPECT_EQ(home.run({"up", home.archive("tea"), "--port", "70000"}).err, "error: --port: expected 1 to 65535\n");
}

TEST(UpCommands, DownTakesADeploymentAway) {
  ObjectsHome home;
  home.data({"bundles", "add", "local", home.archive()});
  EXPECT_EQ(home.run({"down", "tea"}).exit, 5);
  Ran done = home.run({"down", "shop"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("down  shop ("));
  EXPECT_TRUE(home.data({"bundles", "list", "local"}).as_array().empty());
}

}  // namespace up_commands_test
}  // namespace sluice::cli
