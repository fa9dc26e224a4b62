// A request's way upstream: bodies, retries, holds and drains.
#include <gtest/gtest.h>

#include "router/testing_proxy.h"

namespace sluice::router {
namespace proxy_request_test {

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n";
constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

std::string body_of(const std::string& message) { return message.substr(message.find("\r\n\r\n") + 4); }

TEST(ProxyRequest, StreamsABodyAsItComes) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(body_of(proxy.taken(proxy.upstream(0))), "abc");
  proxy.send(client, "defg");
  EXPECT_EQ(proxy.taken(proxy.upstream(0)), "defg");
  proxy.send(client, "hijGET");
  EXPECT_EQ(proxy.taken(proxy.upstream(0)), "hij");
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(proxy.taken(client), kOk);
}

TEST(ProxyRequest, PassesChunksAndTrailersOnAsTheyCame) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  std::string body = "3;a=b\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n";
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n" + body.substr(0, 9));
  proxy.send(client, body.substr(9));
  EXPECT_EQ(body_of(proxy.taken(proxy.upstream(0))), body);
}

TEST(ProxyRequest, SendsNothingOfARequestWhoseChunksAreBad) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n");
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_EQ(proxy.upstreams(), 0U);
}

TEST(ProxyRequest, ClosesTheUpstreamOfABodyThatTurnsBad) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  proxy.send(client, "zz\r\n");
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
}

TEST(ProxyRequest, StopsReadingABodyThatTheUpstreamDoesNotTake) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 1000000\r\n\r\n");
  proxy.wire.at(proxy.upstream(0)).room = 1'000;
  proxy.send(client, std::string(999'000, 'b'));
  EXPECT_GT(proxy.wire.at(client).incoming.size(), 900'000U);
  proxy.make_room(proxy.upstream(0), SIZE_MAX);
  EXPECT_EQ(proxy.wire.at(client).incoming.size(), 0U);
}

TEST(ProxyRequest, TriesAnotherReplicaIfOneCannotBeReached) {
  DeploymentDocument deployment = testing_deployment();
  deployment.revisions[0].replicas = {{"tcp:10.0.0.1:80"}, {"tcp:10.0.0.2:80"}};
  TestingProxy proxy(testing_table({deployment}));
  proxy.wire.refusing = {"10.0.0.1:80"};
  for (int i = 0; i < 6; ++i) {
    int client = proxy.connect();
    proxy.send(client, kGet);
    proxy.send(proxy.wire.connected.back(), kOk);
    EXPECT_EQ(proxy.taken(client), kOk);
  }
  EXPECT_GT(proxy.counts("d1", "r1").retries, 0U);
  // After three failures in a row it is left alone.
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 3U);
}

TEST(ProxyRequest, Answers502IfNobodyCanBeReached) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  proxy.wire.refusing = {"10.0.0.1:80"};
  int client = proxy.connect();
  proxy.send(client, kGet);
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 502 Bad Gateway\r\n"));
  EXPECT_NE(proxy.log_text().find("\"error\":\"no replica could be reached\""), std::string::npos);
}

TEST(ProxyRequest, Answers504IfNoConnectionComesInTime) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  proxy.wire.slow_connects = true;
  int client = proxy.connect();
  proxy.send(client, kGet);
  proxy.advance_ms(7'000);
  EXPECT_EQ(proxy.upstreams(), 3U);
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 504 Gateway Timeout\r\n"));
}

TEST(ProxyRequest, SendsAnIdempotentRequestAgainWhoseKeptConnectionHadEnded) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, kGet);
  proxy.send(proxy.upstream(0), kOk);
  proxy.taken(client);
  // The upstream ends while the next request is on its way.
  proxy.send(client, "GET /2 HTTP/1.1\r\nHost: shop.example\r\n\r\n");
  proxy.end(proxy.upstream(0));
  ASSERT_EQ(proxy.upstreams(), 2U);
  EXPECT_TRUE(proxy.taken(proxy.upstream(1)).starts_with("GET /2 "));
  proxy.send(proxy.upstream(1), kOk);
  EXPECT_EQ(proxy.taken(client), kOk);
}

TEST(ProxyRequest, DoesNotSendAPostTwice) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, kGet);
  proxy.send(proxy.upstream(0), kOk);
  proxy.taken(client);
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 1\r\n\r\nx");
  proxy.end(proxy.upstream(0));
  EXPECT_EQ(proxy.upstreams(), 1U);
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 502 Bad Gateway\r\n"));
}

TEST(ProxyRequest, TakesNoKeptConnectionForAPostThatWasIdleForLong) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, kGet);
  proxy.send(proxy.upstream(0), kOk);
  proxy.advance_ms(2'000);
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 1\r\n\r\nx");
  EXPECT_EQ(proxy.upstreams(), 2U);
}

TEST(ProxyRequest, Answers404WithoutARouteAnd503WithoutAReplica) {
  DeploymentDocument deployment = testing_deployment();
  deployment.revisions[0].replicas.clear();
  TestingProxy proxy(testing_table({deployment}));
  int client = proxy.connect();
  proxy.send(client, "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n");
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 404 Not Found\r\n"));
  proxy.send(client, kGet);
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
}

TEST(ProxyRequest, GivesAPausedDeploymentsPage) {
  DeploymentDocument deployment = testing_deployment();
  deployment.status = DeploymentStatus::paused;
  deployment.paused_page = "back soon";
  deployment.paused_type = "text/plain";
  deployment.retry_after_s = 90;
  TestingProxy proxy(testing_table({deployment}));
  int client = proxy.connect();
  proxy.send(client, kGet);
  EXPECT_EQ(proxy.taken(client),
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n"
            "Cache-Control: no-store\r\nRetry-After: 90\r\n\r\nback soon");
}

TEST(ProxyRequest, HoldsRequestsUntilTheyAreReleased) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  (*proxy.table->named("d1"))->memory->held_until_ms = proxy.now.monotonic_ms() + 10'000;
  int client = proxy.connect();
  proxy.send(client, kGet);
  EXPECT_EQ(proxy.upstreams(), 0U);
  EXPECT_EQ(proxy.proxy->held(), 1U);
  (*proxy.table->named("d1"))->memory->held_until_ms = 0;
  proxy.proxy->release_held();
  proxy.settle();
  ASSERT_EQ(proxy.upstreams(), 1U);
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(proxy.taken(client), kOk);
}

TEST(ProxyRequest, LetsAHeldRequestGoOnWhenTheHoldIsOver) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  (*proxy.table->named("d1"))->memory->held_until_ms = proxy.now.monotonic_ms() + 3'000;
  int client = proxy.connect();
  proxy.send(client, kGet);
  proxy.advance_ms(2'800);
  EXPECT_EQ(proxy.upstreams(), 0U);
  proxy.advance_ms(600);
  EXPECT_EQ(proxy.upstreams(), 1U);
}

TEST(ProxyRequest, SendsNothingNewToARevisionThatDrainsAndCutsTheRestInTime) {
  DeploymentDocument deployment = testing_deployment();
  deployment.revisions = {{.id = "r2", .weight_bps = 5'000, .replicas = {{"tcp:10.0.0.2:80"}}},
                          {.id = "r1", .weight_bps = 5'000, .replicas = {{"tcp:10.0.0.1:80"}}}};
  TestingProxy proxy(testing_table({deployment}));
  std::vector<int> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(proxy.connect());
    proxy.send(clients.back(), kGet);
  }
  EXPECT_EQ(proxy.in_flight("d1", "r1"), 5U);
  RevisionMemory& memory = *(*proxy.table->named("d1"))->named("r1")->memory;
  memory.draining = true;
  memory.cut_at_ms = proxy.now.monotonic_ms() + 1'000;
  proxy.proxy->drain();
  for (int i = 0; i < 10; ++i) proxy.send(proxy.connect(), kGet);
  EXPECT_EQ(proxy.in_flight("d1", "r1"), 5U);
  EXPECT_EQ(proxy.in_flight("d1", "r2"), 15U);
  proxy.advance_ms(1'200);
  EXPECT_EQ(proxy.in_flight("d1", "r1"), 0U);
}

TEST(ProxyRequest, GoesToAnotherRevisionIfAllReplicasOfOneAreEjected) {
  DeploymentDocument deployment = testing_deployment();
  deployment.revisions = {{.id = "r2", .weight_bps = 5'000, .replicas = {{"tcp:10.0.0.2:80"}}},
                          {.id = "r1", .weight_bps = 5'000, .replicas = {{"tcp:10.0.0.1:80"}}}};
  TestingProxy proxy(testing_table({deployment}));
  proxy.wire.refusing = {"10.0.0.2:80"};
  int client = proxy.connect();
  int failed = 0;
  for (int i = 0; i < 20; ++i) {
    proxy.send(client, kGet);
    for (int fd : proxy.wire.connected) {
      if (!proxy.wire.at(fd).written.empty() && !proxy.is_closed(fd)) {
        proxy.taken(fd);
        proxy.send(fd, kOk);
      }
    }
    failed += proxy.taken(client).starts_with("HTTP/1.1 502") ? 1 : 0;
  }
  EXPECT_EQ(failed, 1);
}

TEST(FirstWeek26, H2cIsNotPassedOnHoweverItIsWritten) {
  for (const char* upgrade : {"h2c", "H2C", "foo, h2c", "websocket,h2c", "h2c, websocket", "h2c/1.0", "foo,\th2c;q=1",
                              "\"h2c\"", "h2", "HTTP/2.0", "websocket\r\nUpgrade: h2c", ","}) {
    TestingProxy proxy(testing_table({testing_deployment()}));
    proxy.send(proxy.connect(),
               std::string("GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                           "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\nUpgrade: ") +
                   upgrade + "\r\n\r\n");
    std::string sent = proxy.taken(proxy.upstream(0));
    EXPECT_TRUE(sent.starts_with("GET / HTTP/1.1\r\n")) << upgrade;
    EXPECT_EQ(sent.find("pgrade"), std::string::npos) << upgrade << ": " << sent;
    EXPECT_EQ(sent.find("HTTP2"), std::string::npos) << upgrade << ": " << sent;
  }
}

TEST(FirstWeek26, OtherUpgradesArePassedOn) {
  for (const char* upgrade : {"websocket", "WebSocket", "SPDY/3.1", "tcp", "websocket, other/1"}) {
    TestingProxy proxy(testing_table({testing_deployment()}));
    proxy.send(
        proxy.connect(),
        std::string("GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade\r\nUpgrade: ") + upgrade + "\r\n\r\n");
    EXPECT_NE(proxy.taken(proxy.upstream(0)).find(std::string("Upgrade: ") + upgrade + "\r\n"), std::string::npos);
  }
}

TEST(FirstWeek26, BodyThatTricklesHoldsNoRequestForEver) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 1000000\r\n\r\n");
  int bytes = 0;
  for (; bytes < 1'000 && proxy.wire.at(client).written.empty(); ++bytes) {
    proxy.advance_ms(2'400);
    if (proxy.wire.at(client).written.empty()) proxy.send(client, "x");
  }
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 408 Request Timeout\r\n"));
  EXPECT_LT(bytes, 30);
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 0U);
}

TEST(FirstWeek26, BodyAtALeastRateMayTakeAnyTime) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 2000000\r\n\r\n");
  for (int i = 0; i < 1'000; ++i) {
    proxy.advance_ms(10'000);
    proxy.send(client, std::string(2'000, 'x'));
    proxy.taken(proxy.upstream(0));
  }
  EXPECT_EQ(proxy.taken(client), "");
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(proxy.taken(client), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
}

TEST(FirstWeek26, ClientIsNotSlowWhileTheReplicaTakesNothing) {
  DeploymentDocument deployment = testing_deployment();
  deployment.timeouts.first_byte_ms = 500'000;
  TestingProxy proxy(testing_table({deployment}));
  int client = proxy.connect();
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 4\r\n\r\na");
  proxy.wire.at(proxy.upstream(0)).room = 0;
  proxy.send(client, "b");
  proxy.advance_ms(300'000);
  proxy.make_room(proxy.upstream(0), SIZE_MAX);
  proxy.advance_ms(40'000);
  proxy.send(client, "cd");
  EXPECT_EQ(proxy.taken(client), "");
  EXPECT_TRUE(proxy.taken(proxy.upstream(0)).ends_with("abcd"));
}

}  // namespace proxy_request_test
}  // namespace sluice::router
