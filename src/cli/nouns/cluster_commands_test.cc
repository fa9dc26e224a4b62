// sluice cluster as far as no cluster and no policy is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace cluster_commands_test {

using testing::HasSubstr;

TEST(ClusterCommands, WithoutARequestNothingIsListed) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"cluster", "list"}).out, "Nothing was deployed to a cluster yet.\n");
  EXPECT_EQ(home.run({"cluster", "show", "r1"}).exit, 5);
  EXPECT_EQ(home.run({"cluster", "cancel", "r1"}).exit, 5);
}

TEST(ClusterCommands, TemplatesComeFromOnePlace) {
  ObjectsHome home;
  Ran both = home.run({"cluster", "render", "local", "i", "k8s", "--repo", "https://git.example/x.git"});
  EXPECT_EQ(both.exit, 2);
  EXPECT_THAT(both.err, HasSubstr("not both"));
  EXPECT_EQ(home.run({"cluster", "render", "local", "i", "/none/k8s"}).exit, 5);
}

}  // namespace cluster_commands_test
}  // namespace sluice::cli
