// Bodies, signatures, and what a receiver gets.
#include "deploy/webhook_outlet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/random.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/testing_markers.h"

namespace sluice::deploy {
namespace webhook_outlet_test {

using ::testing::HasSubstr;

const WebhookEvent kEvent{
    .id = "412",
    .type = "rollout.failed",
    .body = R"({"event":"rollout.failed","id":412,"at":"2026-03-01T09:30:00.125Z","environment":"prod",)"
            R"("caller":"user:ann","fields":{"rollout":"r1","message":"<errors> & more"}})"};

struct OutletTest : ::testing::Test {
  WebhookTarget target(const MarkerServer& server) const {
    return {.webhook = "w1", .url = server.url() + "/hook", .format = "cloudevents", .allow_local = true};
  }
  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  RealRandom random;
  WebhookOutlet outlet{disk, clock, random, folder.path("webhooks.key"),
                       [](const std::string&) { return std::nullopt; }};
};

TEST(WebhookBody, IsACloudEvent) {
  const WebhookBody body = webhook_body("cloudevents", kEvent);
  EXPECT_EQ(body.content_type, "application/cloudevents+json");
  const auto cloud = boost::json::parse(body.text);
  EXPECT_EQ(cloud.at("specversion"), "1.0");
  EXPECT_EQ(cloud.at("id"), "412");
  EXPECT_EQ(cloud.at("type"), "sluice.rollout.failed");
  EXPECT_EQ(cloud.at("time"), "2026-03-01T09:30:00.125Z");
  EXPECT_EQ(cloud.at("subject"), "prod");
  EXPECT_EQ(cloud.at("data").at("fields").at("rollout"), "r1");
}

TEST(WebhookBody, IsASentenceForAChat) {
  const WebhookBody body = webhook_body("slack", kEvent);
  EXPECT_EQ(body.content_type, "application/json");
  EXPECT_EQ(boost::json::parse(body.text).at("text"), "rollout.failed in prod by user:ann: &lt;errors&gt; &amp; more");
}

// The example of the specification of Standard Webhooks.
TEST(WebhookSignature, IsAsTheSpecificationHasIt) {
  EXPECT_EQ(webhook_signature({"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
                              "{\"test\": 2432232314}"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST_F(OutletTest, SendsWithAnIdATimeAndASignature) {
  MarkerServer server;
  auto sent = outlet.send(target(server), kEvent);
  ASSERT_TRUE(sent) << to_string(sent.error());
  EXPECT_EQ(*sent, 200);
  ASSERT_EQ(server.requests.size(), 1U);
  const http::Request& got = server.requests[0];
  EXPECT_EQ(*got.header("webhook-id"), "w1.412");
  EXPECT_EQ(*got.header("webhook-signature"),
            webhook_signature({outlet.secret("w1", 1).value()}, "w1.412", std::stoll(*got.header("webhook-timestamp")),
                              got.body));
  EXPECT_EQ(disk.stat(folder.path("webhooks.key"), FollowLinks::no)->mode, 0600U);
}

TEST_F(OutletTest, BothSecretsSignForAWhile) {
  MarkerServer server;
  WebhookTarget rotated = target(server);
  rotated.version = 2;
  rotated.old_secret = true;
  ASSERT_TRUE(outlet.send(rotated, kEvent));
  const http::Request& got = server.requests[0];
  EXPECT_EQ(*got.header("webhook-signature"),
            webhook_signature({outlet.secret("w1", 2).value(), outlet.secret("w1", 1).value()}, "w1.412",
                              std::stoll(*got.header("webhook-timestamp")), got.body));
  EXPECT_NE(outlet.secret("w1", 1).value(), outlet.secret("w2", 1).value());
}

TEST_F(OutletTest, ThisMachineAndRedirectsAreRefused) {
  MarkerServer server;
  WebhookTarget inside = target(server);
  inside.allow_local = false;
  auto refused = outlet.send(inside, kEvent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::denied);
  inside.url = "http://169.254.169.254/latest";
  EXPECT_EQ(outlet.send(inside, kEvent).error().code, Code::denied);
  EXPECT_TRUE(server.requests.empty());
  server.status = 302;
  EXPECT_EQ(outlet.send(target(server), kEvent).error().message, "it answered 302, and redirects are not followed");
  server.status = 500;
  EXPECT_EQ(outlet.send(target(server), kEvent).error().message, "it answered 500");
}

TEST_F(OutletTest, AKeyThatIsNoneIsRefused) {
  ASSERT_TRUE(write_atomically(disk, folder.path("webhooks.key"), "short", 0600));
  EXPECT_THAT(outlet.secret("w1", 1).error().message, HasSubstr("is no key: it has not 32 bytes"));
}

}  // namespace webhook_outlet_test
}  // namespace sluice::deploy
