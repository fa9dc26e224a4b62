// Kept connections: whose answer a visitor gets when a replica says more than it was asked.
#include <gtest/gtest.h>

#include "router/testing_proxy.h"

namespace sluice::router {
namespace proxy_pools_test {

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n";
constexpr const char* kHead = "HEAD / HTTP/1.1\r\nHost: shop.example\r\n\r\n";
constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
constexpr const char* kEvil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
constexpr const char* kNotModified = "HTTP/1.1 304 Not Modified\r\n\r\n";

struct Kept : TestingProxy {
  Kept() : TestingProxy(testing_table({testing_deployment()})) { client = connect(); }

  // One request of the client with its answer, over the connection that was made last.
  void ask(const std::string& request, const std::string& answer) {
    send(client, request);
    send(wire.connected.back(), answer);
    taken(client);
  }
  const Replica& replica() { return *proxy->pools().back()->replicas().front(); }
  int client = -1;
};

TEST(FirstWeek21, ByteOnAnIdleConnectionClosesItAndCountsAgainstTheReplica) {
  Kept proxy;
  proxy.ask(kGet, kOk);
  proxy.send(proxy.upstream(0), "H");
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 1U);
  EXPECT_EQ(proxy.replica().failures, 1U);
}

TEST(FirstWeek21, EndOfAnIdleConnectionCountsAgainstNobody) {
  Kept proxy;
  proxy.ask(kGet, kOk);
  proxy.end(proxy.upstream(0));
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 0U);
  EXPECT_EQ(proxy.replica().failures, 0U);
}

TEST(FirstWeek21, EveryReuseLooksFirstWhateverTheMethod) {
  for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "POST"}) {
    Kept proxy;
    proxy.ask(kGet, kOk);
    // It has come, and is not told of yet.
    proxy.wire.at(proxy.upstream(0)).incoming = kEvil;
    proxy.send(proxy.client, std::string(method) + " /mine HTTP/1.1\r\nHost: shop.example\r\n\r\n");
    ASSERT_EQ(proxy.upstreams(), 2U) << method;
    EXPECT_TRUE(proxy.is_closed(proxy.upstream(0))) << method;
    EXPECT_EQ(proxy.counts("d1", "r1").failures, 1U) << method;
    proxy.send(proxy.upstream(1), kOk);
    EXPECT_EQ(proxy.taken(proxy.client).find("evil"), std::string::npos) << method;
  }
}

TEST(FirstWeek21, ReplicaThatSpokeUnaskedKeepsNoConnectionForAMinute) {
  Kept proxy;
  proxy.ask(kGet, kOk);
  int other = proxy.connect();
  proxy.send(proxy.client, kGet);
  proxy.send(other, kGet);  // takes a second connection
  proxy.send(proxy.upstream(0), kOk);
  proxy.send(proxy.upstream(1), kOk);
  proxy.send(proxy.upstream(0), kEvil);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(1)));
  proxy.ask(kGet, kOk);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(2)));
  proxy.advance_ms(60'000);
  proxy.ask(kGet, kOk);
  EXPECT_FALSE(proxy.is_closed(proxy.upstream(3)));
}

TEST(FirstWeek21, ReplicaThatSaidMoreThanItsAnswerKeepsNoConnectionEither) {
  Kept proxy;
  proxy.ask(kGet, std::string(kOk) + kEvil);
  proxy.ask(kGet, kOk);
  EXPECT_EQ(proxy.upstreams(), 2U);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(1)));
}

TEST(FirstWeek21, ConnectionIsNeverUsedAgainAfterHead) {
  Kept proxy;
  proxy.ask(kHead, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 0U);
}

TEST(FirstWeek21, ConnectionSettlesAfterAnAnswerWithoutABodyByRule) {
  for (const char* answer : {kNotModified, "HTTP/1.1 204 No Content\r\n\r\n"}) {
    Kept proxy;
    proxy.ask(kGet, answer);
    proxy.advance_ms(900);
    proxy.ask(kGet, kOk);
    EXPECT_EQ(proxy.upstreams(), 2U) << answer;
    EXPECT_FALSE(proxy.is_closed(proxy.upstream(0))) << answer;
    proxy.advance_ms(300);
    proxy.send(proxy.client, kGet);
    EXPECT_EQ(proxy.upstreams(), 2U) << answer;
    EXPECT_NE(proxy.taken(proxy.upstream(0)), "") << answer;
  }
}

TEST(FirstWeek21, BodyBehindAnAnswerWithoutOneReachesNobody) {
  Kept proxy;
  proxy.ask(kGet, kNotModified);
  proxy.send(proxy.upstream(0), kEvil);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 1U);
  proxy.send(proxy.client, kGet);
  proxy.send(proxy.upstream(1), kOk);
  EXPECT_EQ(proxy.taken(proxy.client), kOk);
}

TEST(FirstWeek21, ConnectionIsNotUsedAgainAfter204ThatAnnouncesABody) {
  for (const char* line : {"Content-Length: 4\r\n", "Transfer-Encoding: chunked\r\n"}) {
    Kept proxy;
    proxy.ask(kGet, std::string("HTTP/1.1 204 No Content\r\n") + line + "\r\n");
    EXPECT_TRUE(proxy.is_closed(proxy.upstream(0))) << line;
  }
}

TEST(FirstWeek21, ConnectionsThatSettleGoWithTheirReplica) {
  Kept proxy;
  proxy.ask(kGet, kNotModified);
  DeploymentDocument moved = testing_deployment();
  moved.revisions[0].replicas = {{"tcp:10.0.0.2:80"}};
  TableDocument table = testing_table({moved});
  table.generation = 2;
  proxy.load(table);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
}

}  // namespace proxy_pools_test
}  // namespace sluice::router
