// sluice scale where nothing runs; with replicas it is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace scale_commands_test {

using testing::HasSubstr;

TEST(FirstWeek20, ScaleIsKeptForWhatIsWarmedLater) {
  ObjectsHome home;
  home.data({"bundles", "add", "local", home.archive()});
  Ran done = home.run({"scale", "shop", "3"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(done.out, "scaled  shop for local-dev to 3 replicas; nothing of it runs now\n");
  EXPECT_THAT(home.run({"scale", "shop", "0"}).err, HasSubstr("expected 1 to 1000 replicas"));
  EXPECT_EQ(home.run({"scale", "shop", "many"}).exit, 2);
}

}  // namespace scale_commands_test
}  // namespace sluice::cli
