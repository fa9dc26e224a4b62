// sluice deploy where nothing is started; the rest is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace deploy_commands_test {

using testing::HasSubstr;

TEST(DeployCommands, SayWhatIsNotThere) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"deploy", "show", "dp-2026-01-01-001"}).exit, 5);
  EXPECT_EQ(home.run({"deploy", "cancel", "dp-2026-01-01-001"}).exit, 5);
  EXPECT_THAT(home.run({"deploy", "status"}).err, HasSubstr("there is no plan of local"));
  EXPECT_THAT(home.run({"rollback", "--yes"}).err, HasSubstr("nothing was deployed to local that could be undone"));
  EXPECT_THAT(home.run({"deploy", "destroy", "--yes"}).err, HasSubstr("no app is deployed in local"));
  EXPECT_THAT(home.run({"rollback", "--to-version", "9", "--yes"}).err, HasSubstr("no plan of version 9 was executed"));
  EXPECT_THAT(home.run({"deploy", "list"}).out, HasSubstr("there are no plans"));
}

}  // namespace deploy_commands_test
}  // namespace sluice::cli
