// Addresses and prompts.
#include "mcp/resources.h"

#include <gtest/gtest.h>

#include "host/testing_work.h"

namespace sluice::mcp {
namespace resources_test {

TEST(Resources, AnAddressLeadsToAViewOrNowhere) {
  host::TestingWork work;
  host::EngineDoor door{work.door_parts(), {.name = work.owner}};
  ASSERT_TRUE(door.call({.action = "Work/go", .input = {{"n", 3}}}));
  EXPECT_TRUE(read_resource(door, "sluice://traces/latest"));
  for (const char* bad : {"http://traces/latest", "sluice://", "sluice://traces", "sluice://nothing/x", "sluice://a//b",
                          "sluice://traces/latest/more", "sluice://traces/%"}) {
    EXPECT_EQ(read_resource(door, bad).error().message, std::string("there is no resource ") + bad);
  }
}

TEST(Resources, APromptHasItsArgumentsInIt) {
  auto prompt = get_prompt("why_did_this_rollout_stop", {{"rollout", "shop@2"}});
  ASSERT_TRUE(prompt);
  const std::string text(prompt->at("messages").at(0).at("content").at("text").as_string());
  EXPECT_TRUE(text.starts_with("Find out why the rollout shop@2 (environment: as it is found) stopped.")) << text;
  EXPECT_EQ(get_prompt("deploy_this_safely", {}).error().message, "deploy_this_safely needs the argument environment");
  EXPECT_EQ(get_prompt("nothing", {}).error().message, "there is no prompt nothing");
  EXPECT_EQ(list_prompts().size(), 2U);
  EXPECT_EQ(resource_templates().size(), 4U);
}

}  // namespace resources_test
}  // namespace sluice::mcp
