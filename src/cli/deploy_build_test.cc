// What a manifest and its bundles are before a plan is asked for; what they lead to is tested end to end.
#include "cli/deploy_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace deploy_build_test {

using testing::HasSubstr;

TEST(DeployBuild, WithoutAManifestItSaysHowOneIsMade) {
  ObjectsHome home;
  std::filesystem::create_directory(home.folder.path("app"));
  Ran none = home.run({"deploy", "plan", home.folder.path("app")});
  EXPECT_EQ(none.exit, 5);
  EXPECT_THAT(none.err, HasSubstr("next:  sluice init --manifest " + home.folder.path("app")));
}

TEST(DeployBuild, TellsEveryFaultOfTheManifest) {
  ObjectsHome home;
  const std::string path = home.folder.path("app.deploy.yaml");
  std::ofstream(path) << "app: {name: shop, version: '1'}\ncomponents:\n  web:\n    bundle: ${WEB}\n    colour: red\n";
  Ran told = home.run({"deploy", "plan", path});
  EXPECT_EQ(told.exit, 1);
  EXPECT_THAT(told.err, HasSubstr(":4:5: /components/web/bundle: ${WEB} is not set"));
  EXPECT_THAT(told.err, HasSubstr(":5:5: /components/web/colour: unknown field"));
}

}  // namespace deploy_build_test
}  // namespace sluice::cli
