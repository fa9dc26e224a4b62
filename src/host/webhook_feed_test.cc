// Where no kit has webhooks, nothing is told. tests/serve/test_webhooks.py has receivers, restarts and retries.
#include "host/webhook_feed.h"

#include <gtest/gtest.h>

#include "host/testing_authority.h"
#include "host/testing_work.h"

namespace sluice::host {
namespace webhook_feed_test {

TEST(WebhookFeed, AKitWithoutWebhooksTellsNobody) {
  TestingWork work;
  EXPECT_FALSE(has_webhooks(*work.kit));
  EXPECT_TRUE(has_webhooks(*deploy_kit()));
  Authority authority({.store = &work.store, .clock = &work.clock, .owner = work.owner, .kit = work.kit});
  WebhookFeed feed(*work.engine, work.store, authority);
  ASSERT_TRUE(work.engine->invoke({.action = "Work/go", .input = {{"n", 1}}, .caller = {.name = work.owner}}));
  feed.look();
  EXPECT_EQ(work.engine->position(), 1U);
}

}  // namespace webhook_feed_test
}  // namespace sluice::host
