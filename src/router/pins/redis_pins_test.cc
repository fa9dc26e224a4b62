// What is asked of a Redis and written to it, and that it is never waited for.
#include "router/pins/redis_pins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/testing_proxy.h"
#include "router/testing_redis.h"

namespace sluice::router {
namespace redis_pins_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kWall_s = 1'700'000'000;
constexpr const char* kHash = "sl:rev_pin:test:d1:acme";
// The first 16 bytes of SHA-256 of "d1\nann", in base64url.
const std::string kAnn = "XdcCF0YrB8Td-VWumAPD5w";

class RedisPinsTest : public testing::Test {
 protected:
  RedisPinsTest() {
    settings.environment = "test";
    settings.redis = parse_redis_url("redis://127.0.0.1").value();
    deployment.id = "d1";
    deployment.tenant = "acme";
    deployment.ttl_s = 400;
    pins.use(&settings);
    turn();
    EXPECT_THAT(asked(), ElementsAre("PING"));
    says("+PONG\r\n");
  }
  void turn(int64_t later_us = 0) {
    now_us += later_us;
    pins.set_time(now_us, wall_s);
    pins.step();
    pins.flush();
  }
  void says(const std::string& text) {
    wire.at(wire.connected.back()).incoming += text;
    pins.happened({.readable = true});
    turn();
  }
  std::vector<std::string> asked() {
    turn();
    return redis_commands(std::exchange(wire.at(wire.connected.back()).written, ""));
  }
  // Each answer as "session what revision".
  std::vector<std::string> answers() {
    static constexpr const char* kNames[] = {"not_asked", "none", "found", "stale", "unknown"};
    std::vector<std::string> all;
    for (const PinAnswer& each : pins.answers()) {
      all.push_back(each.session + " " + kNames[static_cast<size_t>(each.what)] +
                    (each.revision.empty() ? "" : " " + each.revision) + (each.aged ? " aged" : ""));
    }
    pins.answers().clear();
    return all;
  }
  std::string seen(int64_t ago_s, const std::string& revision = "r1") const {
    return redis_bulk(revision + ":" + std::to_string(wall_s - ago_s));
  }

  TestingWire wire;
  TableSettings settings;
  Deployment deployment;
  Client client;
  int64_t now_us = 1'000'000;
  int64_t wall_s = kWall_s;
  RedisPins pins{wire};
};

TEST_F(RedisPinsTest, AsksForASessionByAHashOfItsKey) {
  pins.look_up(deployment, "ann", client);
  auto all = asked();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0], std::string("HGET ") + kHash + " " + kAnn);
  says(seen(0));
  EXPECT_THAT(answers(), ElementsAre("ann found r1"));
  EXPECT_EQ(pins.counts().hits, 1U);
}

TEST_F(RedisPinsTest, TellsWhatIsThereFromWhatHasRunOutAndWhatIsNone) {
  const std::pair<std::string, const char*> kinds[] = {{seen(0), "ann found r1"},
                                                       {seen(99), "ann found r1"},
                                                       {seen(100), "ann found r1 aged"},
                                                       {seen(400), "ann found r1 aged"},
                                                       {seen(401), "ann stale"},
                                                       {seen(-401), "ann stale"},
                                                       {"$-1\r\n", "ann none"},
                                                       {redis_bulk("r1"), "ann stale"},
                                                       {redis_bulk(":170000000"), "ann stale"},
                                                       {redis_bulk("r1:17e8"), "ann stale"},
                                                       {"-WRONGTYPE\r\n", "ann unknown"},
                                                       {":1\r\n", "ann unknown"}};
  for (const auto& [reply, expected] : kinds) {
    pins.look_up(deployment, "ann", client);
    turn();
    says(reply);
    EXPECT_THAT(answers(), ElementsAre(expected)) << reply;
  }
  EXPECT_EQ(pins.counts().lookups, 12U);
  EXPECT_EQ(pins.counts().hits, 4U);
  EXPECT_EQ(pins.counts().misses, 6U);
  EXPECT_EQ(pins.counts().failures, 2U);
}

TEST_F(RedisPinsTest, AnswersWithinFiveMillisecondsWhateverRedisDoes) {
  pins.look_up(deployment, "ann", client);
  turn();
  EXPECT_LE(pins.next_step_us(), now_us + 4'000);
  turn(3'999);
  EXPECT_THAT(answers(), IsEmpty());
  turn(1);
  EXPECT_THAT(answers(), ElementsAre("ann unknown"));
  EXPECT_EQ(pins.counts().timeouts, 1U);
  EXPECT_EQ(pins.next_step_us(), INT64_MAX);
  says(seen(0));
  EXPECT_THAT(answers(), IsEmpty()) << "it is answered already";
}

TEST_F(RedisPinsTest, AsksNobodyAfterThreeFailuresUntilItIsLetInAgain) {
  for (int i = 0; i < 5; ++i) pins.look_up(deployment, std::to_string(i), client);
  turn(4'000);
  EXPECT_THAT(answers(), ElementsAre("0 unknown", "1 unknown", "2 unknown", "3 unknown", "4 unknown"));
  EXPECT_FALSE(pins.takes_questions());
  EXPECT_FALSE(pins.counts().up);
  EXPECT_STREQ(pins.counts().trouble.load(), "it replies too late");
  turn(100'000);
  says("+PONG\r\n");
  EXPECT_TRUE(pins.takes_questions());
  EXPECT_TRUE(pins.counts().up);
}

TEST_F(RedisPinsTest, WaitsForAConnectionThatDoesNotComeNoMoreThanThreeTimes) {
  settings.redis = parse_redis_url("redis://127.0.0.2").value();
  wire.slow_connects = true;
  pins.use(&settings);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(pins.takes_questions()) << "it may be up in a moment";
    pins.look_up(deployment, std::to_string(i), client);
    turn(4'000);
  }
  EXPECT_THAT(answers(), ElementsAre("0 unknown", "1 unknown", "2 unknown"));
  EXPECT_FALSE(pins.takes_questions());
  wire.slow_connects = false;
  pins.happened({.writable = true});
  EXPECT_THAT(asked(), testing::Contains("PING")) << "connecting goes on";
  says("+PONG\r\n$-1\r\n$-1\r\n$-1\r\n");
  EXPECT_TRUE(pins.takes_questions());
}

TEST_F(RedisPinsTest, OneAnswerInTimeMakesUpForFailures) {
  for (int i = 0; i < 10; ++i) {
    pins.look_up(deployment, "late", client);
    turn(4'000);
    says("$-1\r\n");
    pins.look_up(deployment, "ann", client);
    turn();
    says("$-1\r\n");
    EXPECT_THAT(answers(), ElementsAre("late unknown", "ann none"));
  }
  EXPECT_TRUE(pins.takes_questions());
}

TEST_F(RedisPinsTest, ALostConnectionAnswersAllWhoWait) {
  pins.look_up(deployment, "ann", client);
  pins.look_up(deployment, "bob", client);
  turn();
  says("garbage\r\n");
  EXPECT_THAT(answers(), ElementsAre("ann unknown", "bob unknown"));
  EXPECT_FALSE(pins.takes_questions());
}

TEST_F(RedisPinsTest, WritesWithoutWaiting) {
  pins.put(deployment, "ann", "r1", false);
  pins.put(deployment, "ann", "r2", true);
  std::string field = " " + kAnn + " ";
  EXPECT_THAT(
      asked(),
      ElementsAre(std::string("HSETNX ") + kHash + field + "r1:1700000000", std::string("EXPIRE ") + kHash + " 460",
                  std::string("HSET ") + kHash + field + "r2:1700000000", std::string("EXPIRE ") + kHash + " 460"));
  EXPECT_EQ(pins.counts().writes, 2U);
  says(":1\r\n:1\r\n:0\r\n:1\r\n");
  EXPECT_THAT(answers(), IsEmpty());
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(RedisPinsTest, AsksForThePinOfWhoWasFirst) {
  pins.put(deployment, "ann", "r1", false);
  asked();
  says(":0\r\n:1\r\n");
  EXPECT_THAT(asked(), ElementsAre(HasSubstr("HGET")));
  says(seen(0, "r2"));
  ASSERT_EQ(pins.answers().size(), 1U);
  EXPECT_EQ(pins.answers()[0].own, "r1");
  EXPECT_EQ(pins.answers()[0].client, nullptr);
  EXPECT_THAT(answers(), ElementsAre("ann found r2"));
}

TEST_F(RedisPinsTest, WhoOnlyComparesIsNotToldThatNothingIsKnown) {
  pins.compare(deployment, "ann", "r1");
  turn(4'000);
  EXPECT_THAT(answers(), IsEmpty());
  EXPECT_EQ(pins.next_step_us(), INT64_MAX);
}

TEST_F(RedisPinsTest, ForgetsWhoHasGone) {
  pins.look_up(deployment, "ann", client);
  turn();
  pins.forget(client);
  says(seen(0));
  ASSERT_EQ(pins.answers().size(), 1U);
  EXPECT_EQ(pins.answers()[0].client, nullptr) << "what it says goes into the memory all the same";
}

TEST_F(RedisPinsTest, RemovesWhatHasRunOutWhileItWrites) {
  for (int i = 0; i < 15; ++i) pins.put(deployment, std::to_string(i), "r1", true);
  EXPECT_THAT(asked(), Not(testing::Contains(HasSubstr("HSCAN"))));
  pins.put(deployment, "ann", "r1", true);
  EXPECT_THAT(asked(), testing::Contains(std::string("HSCAN ") + kHash + " 0 COUNT 160"));
  std::string replies;
  for (int i = 0; i < 32; ++i) replies += ":1\r\n";
  says(replies + "*2\r\n" + redis_bulk("17") + "*6\r\n" + redis_bulk("old") + seen(461) + redis_bulk("new") + seen(0) +
       redis_bulk("odd") + redis_bulk("x"));
  EXPECT_THAT(asked(), ElementsAre(std::string("HDEL ") + kHash + " old odd"));
  for (int i = 0; i < 16; ++i) pins.put(deployment, std::to_string(i), "r1", true);
  EXPECT_THAT(asked(), testing::Contains(std::string("HSCAN ") + kHash + " 17 COUNT 160"));
}

TEST_F(RedisPinsTest, IsAskedNoMoreWhenTheTableNamesNone) {
  pins.look_up(deployment, "ann", client);
  settings.redis.reset();
  pins.use(&settings);
  turn();
  EXPECT_THAT(answers(), ElementsAre("ann unknown"));
  EXPECT_FALSE(pins.takes_questions());
  EXPECT_FALSE(pins.counts().in_use);
}

}  // namespace redis_pins_test
}  // namespace sluice::router
