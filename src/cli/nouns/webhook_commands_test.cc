// sluice webhooks in a home of its own; receivers are in tests/serve/test_webhooks.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace webhook_commands_test {

using ::testing::HasSubstr;

TEST(WebhookCommands, WebhooksAreListedAndRemoved) {
  ObjectsHome home;
  EXPECT_THAT(home.run({"webhooks", "list"}).out, HasSubstr("Nobody is told."));
  EXPECT_EQ(home.run({"webhooks", "add", "team", "https://chat.example/hook", "--event", "rollouts.*"}).exit, 1);
  EXPECT_EQ(home.run({"webhooks", "remove", "team"}).exit, 5);
  EXPECT_EQ(home.run({"webhooks", "test", "team"}).exit, 5);
  EXPECT_EQ(home.run({"webhooks", "rotate", "team"}).exit, 5);
}

}  // namespace webhook_commands_test
}  // namespace sluice::cli
