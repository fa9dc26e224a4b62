// sluice up where it ends before anything is started; the rest is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace up_commands_test {

using testing::EndsWith;
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
  const std::string next =
      "\nnext:  name a folder with a bundle.yaml, or an archive that sluice bundles build has made\n";
  Ran none = home.run({"up", home.folder.path("none")});
  EXPECT_EQ(none.exit, 5);
  EXPECT_THAT(none.err, EndsWith(next));
  EXPECT_THAT(home.run({"up", "/dev/null"}).err, EndsWith(next));
  EXPECT_FALSE(std::filesystem::exists(home.folder.path("home"))) << "nothing is made for what is no bundle";
  EXPECT_THAT(home.run({"up", home.archive(), "--set", "x"}).err,
              EndsWith("--set is name=value, not 'x'\nnext:  sluice help up\n"));
  for (const char* share : {"0%", "100%"}) {
    EXPECT_EQ(home.run({"up", "--share", share}).err,
              "error: --share: expected a share between 0% and 100%\nnext:  sluice help up\n");
    EXPECT_EQ(home.run({"up", "--canary", share}).err,
              "error: --canary: expected a share between 0% and 100%\nnext:  sluice help up\n");
  }
  EXPECT_EQ(home.run({"up", "--canary", "5%", "--share", "5%"}).err,
            "error: --canary begins a rollout with its share, --share begins none\nnext:  sluice help up\n");
  for (const char* port : {"0", "70000"}) {
    Ran refused = home.run({"up", "--port", port});
    EXPECT_EQ(refused.exit, 2);
    EXPECT_EQ(refused.err, "error: --port: expected 1 to 65535\nnext:  sluice help up\n");
  }
}

}  // namespace up_commands_test
}  // namespace sluice::cli
