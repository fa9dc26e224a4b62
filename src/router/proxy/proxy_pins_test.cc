// Requests whose session only Redis knows: they wait for it without holding up others, and not long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/testing_proxy.h"
#include "router/testing_redis.h"

namespace sluice::router {
namespace proxy_pins_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
constexpr const char* kRedis = "127.0.0.1:6379";

// All weight is on r1; r2 has enough to be a pin's.
TableDocument shop(const std::string& redis = "redis://127.0.0.1") {
  DeploymentDocument deployment = testing_deployment();
  deployment.tenant = "acme";
  deployment.stickiness = {.mode = StickyMode::session, .key_header = "X-Session", .ttl_s = 400};
  deployment.revisions = {{.id = "r2", .weight_bps = 1, .replicas = {{"tcp:10.0.0.2:80"}}},
                          {.id = "r1", .weight_bps = 9'999, .replicas = {{"tcp:10.0.0.1:80"}}}};
  DeploymentDocument plain = testing_deployment();
  plain.id = "d2";
  plain.routes.hosts = {"plain.example"};
  TableDocument table = testing_table({deployment, plain});
  if (!redis.empty()) table.pins = PinsDocument{redis};
  return table;
}

std::string get(const std::string& session) {
  return "GET / HTTP/1.1\r\nHost: shop.example\r\nX-Session: " + session + "\r\n\r\n";
}

class ProxyPins : public testing::Test {
 protected:
  ProxyPins() {
    redis_says("+PONG\r\n");
    asked();
  }
  int redis() {
    for (size_t i = proxy.upstreams(); i-- > 0;) {
      if (proxy.wire.at(proxy.upstream(i)).to == kRedis) return proxy.upstream(i);
    }
    ADD_FAILURE() << "Redis is not connected";
    return 0;
  }
  void redis_says(const std::string& text) { proxy.send(redis(), text); }
  std::vector<std::string> asked() { return redis_commands(proxy.taken(redis())); }
  std::string pin(const std::string& revision, int64_t ago_s = 0) {
    return redis_bulk(revision + ":" + std::to_string(proxy.now.wall_ms / 1'000 - ago_s));
  }
  // Time passes for the loop, which looks at it after each turn.
  void wait_us(int64_t time_us) {
    proxy.now.monotonic_us += time_us;
    proxy.proxy->set_time(proxy.now);
    proxy.settle();
  }
  // The replica that a client's request has gone to, answered.
  std::string served(int client) {
    for (size_t i = 0; i < proxy.upstreams(); ++i) {
      int fd = proxy.upstream(i);
      if (proxy.wire.at(fd).to == kRedis || proxy.taken(fd).empty()) continue;
      proxy.send(fd, kOk);
      EXPECT_THAT(proxy.taken(client), HasSubstr("200 OK"));
      return proxy.wire.at(fd).to;
    }
    return "";
  }

  TestingProxy proxy{shop()};
};

TEST_F(ProxyPins, ARequestGoesWhereRedisSaysThatItsSessionIs) {
  int client = proxy.connect();
  proxy.send(client, get("ann"));
  EXPECT_THAT(asked(), ElementsAre(testing::StartsWith("HGET sl:rev_pin:test:d1:acme ")));
  EXPECT_EQ(served(client), "") << "it waits";
  redis_says(pin("r2"));
  EXPECT_EQ(served(client), "10.0.0.2:80");
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_EQ(proxy.proxy->pin_counts().hits, 1U);
}

TEST_F(ProxyPins, WhatTheMemoryKnowsIsNotAsked) {
  int client = proxy.connect();
  proxy.send(client, get("ann"));
  redis_says(pin("r2"));
  served(client);
  asked();
  for (int i = 0; i < 5; ++i) {
    proxy.send(client, get("ann"));
    EXPECT_EQ(served(client), "10.0.0.2:80");
  }
  proxy.send(client, "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n");
  EXPECT_NE(served(client), "") << "it has no session";
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(ProxyPins, ANewSessionIsWrittenAndOthersGoOnMeanwhile) {
  int client = proxy.connect(), other = proxy.connect();
  proxy.send(client, get("ann"));
  proxy.send(other, "GET / HTTP/1.1\r\nHost: plain.example\r\n\r\n");
  EXPECT_EQ(served(other), "10.0.0.1:80");
  asked();
  redis_says("$-1\r\n");
  EXPECT_THAT(asked(), ElementsAre(testing::MatchesRegex("HSETNX sl:rev_pin:test:d1:acme .* r1:.*"),
                                   "EXPIRE sl:rev_pin:test:d1:acme 460"));
  EXPECT_EQ(served(client), "10.0.0.1:80");
}

TEST_F(ProxyPins, NoKeyOfASessionReachesRedis) {
  int client = proxy.connect();
  proxy.send(client, get("s3cret-of-ann"));
  redis_says("$-1\r\n");
  EXPECT_EQ(proxy.taken(redis()).find("s3cret"), std::string::npos);
}

TEST_F(ProxyPins, ARequestWithABodyWaitsWithAllOfIt) {
  int client = proxy.connect();
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nX-Session: ann\r\nContent-Length: 6\r\n\r\nabc");
  proxy.send(client, "def");
  redis_says(pin("r2"));
  std::string sent = proxy.taken(proxy.wire.connected.back());
  EXPECT_TRUE(sent.ends_with("\r\n\r\nabcdef")) << sent;
}

TEST_F(ProxyPins, ASilentRedisIsWaitedForNoLongerThanFiveMilliseconds) {
  int client = proxy.connect();
  proxy.send(client, get("ann"));
  wait_us(3'000);
  EXPECT_EQ(served(client), "");
  EXPECT_LE(proxy.proxy->next_run_us(), proxy.now.monotonic_us + 1'000) << "the loop wakes up in time";
  wait_us(1'000);
  EXPECT_EQ(served(client), "10.0.0.1:80");
  EXPECT_EQ(proxy.proxy->pin_counts().timeouts, 1U);
}

TEST_F(ProxyPins, ADeadRedisCostsNothing) {
  int client = proxy.connect(), other = proxy.connect();
  proxy.send(client, get("ann"));
  proxy.send(other, get("bob"));
  proxy.break_off(redis());
  EXPECT_NE(served(client), "");
  proxy.taken(other);
  int third = proxy.connect();
  proxy.send(third, get("cem"));
  EXPECT_NE(served(third), "") << "nobody is asked";
  EXPECT_EQ(proxy.proxy->pin_counts().lookups, 2U);
}

TEST_F(ProxyPins, AfterThreeThatWereLateNobodyWaits) {
  std::vector<int> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(proxy.connect());
    proxy.send(clients.back(), get("s" + std::to_string(i)));
  }
  wait_us(4'000);
  EXPECT_TRUE(proxy.is_closed(redis()));
  int client = proxy.connect();
  size_t before = proxy.upstreams();
  proxy.send(client, get("ann"));
  EXPECT_EQ(proxy.upstreams(), before + 1) << "it has gone upstream at once";
}

TEST_F(ProxyPins, GarbageIsNoPin) {
  for (const char* garbage : {"$-1\r\n$-1\r\n", "oops\r\n", ":7\r\n", "*1\r\n$1\r\nx\r\n", "-ERR no\r\n"}) {
    int client = proxy.connect();
    proxy.send(client, get(garbage[0] == '$' ? "a" : std::string("s") + garbage[0]));
    redis_says(garbage);
    EXPECT_NE(served(client), "") << garbage;
    proxy.advance_ms(10'000);
    redis_says("+PONG\r\n");
    asked();
  }
}

TEST_F(ProxyPins, APinWhoseRevisionMayNotServeIsReplaced) {
  int client = proxy.connect();
  proxy.send(client, get("ann"));
  asked();
  redis_says(pin("r0"));
  EXPECT_EQ(served(client), "10.0.0.1:80");
  EXPECT_THAT(asked(), ElementsAre(HasSubstr("HSET "), HasSubstr("EXPIRE ")));
}

TEST_F(ProxyPins, AnAgedPinIsWrittenAgain) {
  int client = proxy.connect();
  proxy.send(client, get("ann"));
  asked();
  redis_says(pin("r2", 300));
  EXPECT_THAT(asked(), ElementsAre(testing::MatchesRegex("HSET .* r2:" + std::to_string(proxy.now.wall_ms / 1'000)),
                                   HasSubstr("EXPIRE ")));
}

TEST_F(ProxyPins, APinThatIsUsedIsComparedAndWrittenAgain) {
  int client = proxy.connect();
  proxy.send(client, get("ann"));
  redis_says("$-1\r\n");
  redis_says(":1\r\n:1\r\n");
  EXPECT_EQ(served(client), "10.0.0.1:80");
  asked();
  proxy.now.wall_ms += 150'000;
  proxy.advance_ms(100);
  proxy.send(client, get("ann"));
  EXPECT_EQ(served(client), "10.0.0.1:80") << "it does not wait for that";
  EXPECT_THAT(asked(), ElementsAre(HasSubstr("HGET ")));
  redis_says("$-1\r\n");
  EXPECT_THAT(asked(), ElementsAre(HasSubstr(" r1:"), HasSubstr("EXPIRE "))) << "it was lost there";
}

TEST_F(ProxyPins, WhoWasSecondTakesThePinOfTheFirst) {
  int client = proxy.connect();
  proxy.send(client, get("ann"));
  redis_says("$-1\r\n");
  EXPECT_EQ(served(client), "10.0.0.1:80");
  asked();
  redis_says(":0\r\n:1\r\n");
  EXPECT_THAT(asked(), ElementsAre(HasSubstr("HGET ")));
  redis_says(pin("r2"));
  EXPECT_THAT(asked(), IsEmpty()) << "its time is new";
  proxy.send(client, get("ann"));
  EXPECT_EQ(served(client), "10.0.0.2:80");
}

TEST_F(ProxyPins, AClientMayGoWhileItWaits) {
  int client = proxy.connect();
  proxy.send(client, get("ann"));
  proxy.break_off(client);
  redis_says(pin("r2"));
  EXPECT_EQ(proxy.proxy->clients(), 0U);
  int other = proxy.connect();
  proxy.send(other, get("ann"));
  EXPECT_EQ(served(other), "10.0.0.2:80") << "what was asked for it is known now";
}

TEST_F(ProxyPins, ATableWithoutRedisEndsTheWait) {
  int client = proxy.connect();
  proxy.send(client, get("ann"));
  proxy.load(shop(""));
  EXPECT_EQ(served(client), "10.0.0.1:80");
  EXPECT_TRUE(proxy.is_closed(redis()));
  int other = proxy.connect();
  proxy.send(other, get("bob"));
  EXPECT_EQ(served(other), "10.0.0.1:80");
}

TEST_F(ProxyPins, TheTimeThatItWaitedCounts) {
  int client = proxy.connect();
  proxy.send(client, get("ann"));
  wait_us(2'000);
  redis_says("$-1\r\n");
  EXPECT_EQ(served(client), "10.0.0.1:80");
  EXPECT_EQ(proxy.counts("d1", "r1").latency_us, 2'000U);
}

TEST_F(ProxyPins, AStopWaitsForWhoAsks) {
  int client = proxy.connect();
  proxy.send(client, get("ann"));
  proxy.proxy->begin_stop();
  EXPECT_FALSE(proxy.is_closed(client));
  redis_says(pin("r2"));
  EXPECT_EQ(served(client), "10.0.0.2:80");
}

}  // namespace proxy_pins_test
}  // namespace sluice::router
