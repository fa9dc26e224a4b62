// A command's calls and reads in a home of its own.
#include "cli/command_door.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "cli/testing_context.h"
#include "deploy/deploy_kit.h"
#include "deploy/views/objects.h"

namespace sluice::cli {
namespace command_door_test {

TEST(CommandDoors, CallsAndReads) {
  TestingContext world(deploy::concepts(), "env create");
  world.given.set("reason", "tea time");
  auto door = CommandDoor::open(world.context);
  ASSERT_TRUE(door) << to_string(door.error());
  auto made = (*door)->call("Env/open", {});
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->code, Code::ok);
  auto all = (*door)->read<std::vector<deploy::views::ListedEnvironment>>("environments");
  ASSERT_TRUE(all) << to_string(all.error());
  ASSERT_EQ(all->size(), 1U);
  EXPECT_EQ(all->front().environment_id, "local");
  EXPECT_EQ((*door)->would("Env/destroy", {{"environment", "local"}})->variant, "ok");
  EXPECT_EQ((*door)->read<std::vector<deploy::views::ListedEnvironment>>("environments")->size(), 1U)
      << "nothing was destroyed";
}

TEST(CommandDoors, ARefusalSaysWhatToDoNext) {
  TestingContext world({}, "traffic set");
  host::Answer answer{.action = "Traffic/set",
                      .variant = "notReady",
                      .fields = {{"message", "r2 is staged; next: sluice revisions warm local r2"}},
                      .code = Code::conflict};
  Error error = refusal_in_words(world.context, answer);
  EXPECT_EQ(error.message, "r2 is staged");
  EXPECT_EQ(error.next, "sluice revisions warm local r2");
  answer = {.action = "Traffic/set",
            .variant = "engine.conflict",
            .fields = {{"expected", 3}, {"actual", 5}, {"at", "noon"}, {"by", "ann"}},
            .code = Code::conflict};
  error = refusal_in_words(world.context, answer);
  EXPECT_EQ(error.message,
            "somebody has changed it: expected generation 3, it is at 5, changed at noon by ann; nothing was changed");
  EXPECT_EQ(error.next, "look at it again, then use --expect-generation 5");
}

}  // namespace command_door_test
}  // namespace sluice::cli
