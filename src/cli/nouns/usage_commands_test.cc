// sluice usage where nothing was used; with routers it is tested end to end.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace usage_commands_test {

TEST(UsageCommands, AnEmptyHomeHasUsedNothing) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"usage", "show"}).out, "Nothing was used yet.\n");
  EXPECT_EQ(home.run({"usage", "show", "--by", "color"}).exit, 2);
  EXPECT_FALSE(std::filesystem::exists(home.folder.path("home/store")));
}

}  // namespace usage_commands_test
}  // namespace sluice::cli
