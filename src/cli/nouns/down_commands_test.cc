// sluice down and runtime storage where nothing runs; the rest is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "cli/testing_objects.h"

namespace sluice::cli {
namespace down_commands_test {

using testing::HasSubstr;

TEST(DownCommands, TakesADeploymentAwayByNameOrId) {
  ObjectsHome home;
  home.data({"bundles", "add", "local", home.archive()});
  EXPECT_EQ(home.run({"down", "tea"}).exit, 5);
  json::value would = home.data({"down", "shop", "--dry-run"});
  EXPECT_EQ(write(would.at("loses")), R"(["1 revision"])");
  EXPECT_EQ(home.data({"bundles", "list", "local"}).as_array().size(), 1U) << "a dry run changes nothing";
  Ran done = home.run({"down", "shop"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("down  shop ("));
  EXPECT_TRUE(home.data({"bundles", "list", "local"}).as_array().empty());
}

TEST(DownCommands, StorageIsListedAndOnlyWhatIsThereRemoved) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"runtime", "storage", "list"}).out, "Nothing is stored.\n");
  EXPECT_EQ(home.run({"runtime", "storage", "remove"}).exit, 2);
  EXPECT_EQ(home.run({"runtime", "storage", "list", "d-1"}).exit, 2);
  Ran none = home.run({"runtime", "storage", "remove", "d-1", "--yes"});
  EXPECT_EQ(none.exit, 5);
  EXPECT_THAT(none.err, HasSubstr("nothing is stored under the name d-1\nnext:  sluice runtime storage list\n"));
}

}  // namespace down_commands_test
}  // namespace sluice::cli
