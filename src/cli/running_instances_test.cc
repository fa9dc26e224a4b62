// Names and what they mean. How instances are read is tested with the commands that do so.
#include "cli/running_instances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::cli {
namespace running_instances_test {

using testing::ElementsAre;

std::vector<RunningInstance> all() {
  RunningInstance hello{.id = "01JAAAA1", .component = "hello"};
  hello.replicas = {{.name = "01JS.2.0", .label = "hello.0"}, {.name = "01JS.2.1", .label = "hello.1"}};
  return {hello, {.id = "01JBBBB2", .component = "shop", .type = "local"}, {.id = "01JCCCC3", .component = "shop"}};
}

std::vector<std::string> names(const std::string& name) {
  auto found = find_replicas(all(), name);
  if (!found) return {to_string(found.error())};
  std::vector<std::string> names;
  for (const RunningReplica& each : *found) names.push_back(each.name);
  return names;
}

TEST(RunningInstances, AreFoundByComponentIdOrPartOfIt) {
  EXPECT_EQ(find_instance(all(), "hello")->id, "01JAAAA1");
  EXPECT_EQ(find_instance(all(), "01JBBBB2")->component, "shop");
  EXPECT_EQ(find_instance(all(), "CCC3")->component, "shop");
  EXPECT_EQ(find_instance(all(), "C3").error().message, "nothing that runs is called C3");
  EXPECT_EQ(find_instance(all(), "shop").error().message, "several are called shop: 01JBBBB2, 01JCCCC3");
  EXPECT_EQ(find_instance(all(), "none").error().code, Code::not_found);
}

TEST(RunningInstances, ReplicasAreFoundByTheirNamesOrByTheirInstance) {
  EXPECT_THAT(names("01JS.2.1"), ElementsAre("01JS.2.1"));
  EXPECT_THAT(names("hello.0"), ElementsAre("01JS.2.0"));
  EXPECT_THAT(names("hello"), ElementsAre("01JS.2.0", "01JS.2.1"));
  EXPECT_THAT(names("hello.2"), ElementsAre("nothing that runs is called hello.2"));
  EXPECT_THAT(names("01JBBBB2"), ElementsAre("nothing of 01JBBBB2 runs on this machine"));
}

}  // namespace running_instances_test
}  // namespace sluice::cli
