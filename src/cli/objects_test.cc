// Objects are read without an engine, and changed through one.
#include "cli/objects.h"

#include <gtest/gtest.h>

#include "cli/testing_context.h"
#include "deploy/deploy_kit.h"

namespace sluice::cli {
namespace objects_test {

TEST(Objects, AreReadAsTheLastChangeLeftThem) {
  TestingContext testing(deploy::concepts(), "env create");
  {
    auto objects = Objects::to_change(testing.context);
    ASSERT_TRUE(objects);
    auto answer = (*objects)->change("Env/create", {{"environment", "prod"}});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->variant, "ok");
    EXPECT_TRUE((*objects)->states().env().has(deploy::env::EnvId("prod")));
    EXPECT_TRUE((*objects)->settle());
  }
  testing.given.command = testing.commands.find("env list");
  auto read = Objects::to_read(testing.context);
  ASSERT_TRUE(read);
  EXPECT_TRUE((*read)->states().env().has(deploy::env::EnvId("prod")));
}

TEST(Objects, ARefusalOfAGuardEndsWithWhatToDo) {
  Answer answer{.action = "A/b",
                .variant = "inUse",
                .fields = {{"message", "it is used; next: sluice free it"}},
                .code = Code::conflict};
  Error error = refusal_in_words(answer);
  EXPECT_EQ(error.message, "it is used");
  EXPECT_EQ(error.next, "sluice free it");
}

}  // namespace objects_test
}  // namespace sluice::cli
