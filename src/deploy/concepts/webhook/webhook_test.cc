// Webhook through the harness: one test a variant, with a real receiver.
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/testing_folder.h"
#include "deploy/testing_markers.h"
#include "deploy/webhook_outlet.h"
#include "lang/run/harness.h"
#include "webhook.gen.h"

namespace sluice::deploy::webhook {

void prepare(lang::Harness&) {}

namespace webhook_test {

class WebhookTest : public ::testing::Test {
 protected:
  WebhookTest() { harness.tools().add(outlet); }
  WebhookId create(const std::string& url = "https://hooks.example/a", const std::string& name = "a") {
    return harness
        .invoke(Create{.name = name, .url = url, .events = "rollout.*", .allowLocal = true, .caller = "uid:0"})
        .as<Create::Ok>()
        .webhook;
  }
  auto listed() { return harness.invoke(List{}).as<List::Ok>().webhooks; }
  std::string fault(const Create& ask) { return harness.invoke(ask).as<Create::Invalid>().message; }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  RealRandom random;
  WebhookOutlet outlet{disk, clock, random, folder.path("webhooks.key"),
                       [](const std::string&) { return std::nullopt; }};
  lang::Harness harness{webhook_binding()};
};

TEST_F(WebhookTest, CreatesOneOfEachName) {
  auto one = create();
  EXPECT_EQ(harness.invoke(Create{.name = "a", .url = "https://hooks.example/b"}).as<Create::Exists>().webhook, one);
  ASSERT_EQ(listed().size(), 1U);
  EXPECT_EQ(listed()[0].format, "cloudevents");
  EXPECT_EQ(listed()[0].createdBy, "uid:0");
  EXPECT_EQ(harness.invoke(Remove{.webhook = one}).as<Remove::Ok>().name, "a");
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(harness.invoke(Remove{.webhook = one}).as<Remove::NotFound>().message, "there is no webhook " + one.text());
}

TEST_F(WebhookTest, CreateRefusesWhatIsNone) {
  EXPECT_EQ(fault({.name = "", .url = "https://hooks.example"}), "a webhook's name is one line of at most 100 bytes");
  EXPECT_EQ(fault({.name = "a", .url = "ftp://hooks.example"}),
            "the address is an http:// or https:// URL, not ftp://hooks.example");
  EXPECT_EQ(fault({.name = "a", .url = "https://hooks.example", .events = "Rollout"}),
            "events are types with commas between them: rollout.*,plan.failed");
  EXPECT_EQ(fault({.name = "a", .url = "https://hooks.example", .format = "fax"}),
            "there is no format fax; it is cloudevents or slack");
}

TEST_F(WebhookTest, RotateMakesAnotherSecret) {
  auto one = create();
  EXPECT_EQ(harness.invoke(Rotate{.webhook = one}).as<Rotate::Ok>().version, 2);
  EXPECT_EQ(harness.invoke(Rotate{.webhook = WebhookId("x")}).as<Rotate::NotFound>().message, "there is no webhook x");
}

TEST_F(WebhookTest, DeliversAndKeepsHowItWent) {
  MarkerServer server;
  auto one = create(server.url());
  const Deliver ask{.webhook = one, .event = "7", .type = "rollout.started", .body = "{}"};
  EXPECT_EQ(harness.invoke(ask).as<Deliver::Ok>().status, 200);
  EXPECT_EQ(listed()[0].delivered, 1);
  server.status = 503;
  EXPECT_EQ(harness.invoke(ask).as<Deliver::Unavailable>().message, "it answered 503");
  EXPECT_EQ(listed()[0].trouble, "it answered 503");
  EXPECT_EQ(*server.requests[0].header("webhook-id"), *server.requests[1].header("webhook-id"));
  harness.invoke(Remove{.webhook = one}).as<Remove::Ok>();
  harness.invoke(ask).as<Deliver::Removed>();
}

TEST_F(WebhookTest, ATestIsSentAtOnce) {
  MarkerServer server;
  auto one = create(server.url());
  EXPECT_EQ(harness.invoke(SendTest{.webhook = one}).as<SendTest::Ok>().status, 200);
  EXPECT_NE(server.requests[0].body.find("sluice.webhook.test"), std::string::npos);
  server.status = 404;
  EXPECT_EQ(harness.invoke(SendTest{.webhook = one}).as<SendTest::Unavailable>().message, "it answered 404");
  EXPECT_EQ(harness.invoke(SendTest{.webhook = WebhookId("x")}).as<SendTest::NotFound>().message,
            "there is no webhook x");
}

TEST_F(WebhookTest, NotifiesAndKeepsHowFarItLooked) {
  auto one = create();
  EXPECT_EQ(harness.invoke(Notify{.webhook = one, .event = "7", .type = "rollout.started", .body = "{}"})
                .as<Notify::Ok>()
                .webhook,
            one);
  harness.invoke(NoteSeen{.position = 9}).as<NoteSeen::Ok>();
  harness.invoke(NoteSeen{.position = 3}).as<NoteSeen::Ok>();
  EXPECT_EQ(State(harness.rows()).whole().seen, 9);
}

}  // namespace webhook_test
}  // namespace sluice::deploy::webhook
