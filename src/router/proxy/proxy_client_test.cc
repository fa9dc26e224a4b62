// Clients: heads in pieces, pipelining, keep-alive, and everything that ends a connection.
#include <gtest/gtest.h>

#include "router/testing_proxy.h"

namespace sluice::router {
namespace proxy_client_test {

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n";
constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

TEST(ProxyClient, PassesARequestOnAndItsAnswerBackWithOneReadAndOneWriteEach) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.wire.reads = proxy.wire.writes = 0;
  proxy.send(client, kGet);
  ASSERT_EQ(proxy.upstreams(), 1U);
  int upstream = proxy.upstream(0);
  EXPECT_TRUE(
      proxy.taken(upstream).starts_with("GET / HTTP/1.1\r\nHost: shop.example\r\nX-Forwarded-For: 192.0.2.7\r\n"));
  proxy.send(upstream, kOk);
  EXPECT_EQ(proxy.taken(client), kOk);
  EXPECT_EQ(proxy.wire.reads, 2U);
  EXPECT_EQ(proxy.wire.writes, 2U);
  EXPECT_EQ(proxy.proxy->buffers_taken(), 0U);
  EXPECT_EQ(proxy.counts("d1", "r1").requests, 1U);
}

TEST(ProxyClient, TakesAHeadHoweverItIsCut) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  for (const char* at = kGet; *at != '\0'; ++at) proxy.send(client, std::string_view(at, 1));
  ASSERT_EQ(proxy.upstreams(), 1U);
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(proxy.taken(client), kOk);
}

TEST(ProxyClient, AnswersPipelinedRequestsInOrderOverOneConnection) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, "GET /1 HTTP/1.1\r\nHost: shop.example\r\n\r\nGET /2 HTTP/1.1\r\nHost: shop.example\r\n\r\n");
  ASSERT_EQ(proxy.upstreams(), 1U);
  int upstream = proxy.upstream(0);
  EXPECT_TRUE(proxy.taken(upstream).starts_with("GET /1 "));
  EXPECT_EQ(proxy.taken(upstream), "");
  proxy.send(upstream, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1");
  EXPECT_TRUE(proxy.taken(upstream).starts_with("GET /2 "));
  proxy.send(upstream, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2");
  EXPECT_EQ(proxy.taken(client),
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2");
  EXPECT_EQ(proxy.upstreams(), 1U);
}

TEST(ProxyClient, RefusesWhatIsNoRequestAndClosesWithoutAByteUpstream) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_TRUE(proxy.wire.at(client).shut);
  proxy.end(client);
  EXPECT_TRUE(proxy.is_closed(client));
  EXPECT_EQ(proxy.upstreams(), 0U);
  EXPECT_EQ(proxy.proxy->refused(), 1U);
}

TEST(ProxyClient, ReadsUpToTheEndOfWhoStillSendsBeforeItCloses) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, "NONSENSE\n");
  EXPECT_FALSE(proxy.is_closed(client));
  proxy.send(client, std::string(100'000, 'x'));
  EXPECT_FALSE(proxy.is_closed(client));
  proxy.advance_ms(2'500);
  EXPECT_TRUE(proxy.is_closed(client));
  EXPECT_EQ(proxy.proxy->clients(), 0U);
}

TEST(ProxyClient, ClosesAnIdleConnectionAfter75Seconds) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, kGet);
  proxy.send(proxy.upstream(0), kOk);
  proxy.advance_ms(74'000);
  EXPECT_FALSE(proxy.is_closed(client));
  proxy.advance_ms(1'500);
  EXPECT_TRUE(proxy.is_closed(client));
}

TEST(ProxyClient, AnswersAHeadThatTakesTooLongWith408) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, "GET / HTT");
  for (int i = 0; i < 9; ++i) {
    proxy.advance_ms(1'000);
    proxy.send(client, "");
  }
  EXPECT_EQ(proxy.taken(client), "");
  proxy.advance_ms(1'500);
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 408 Request Timeout\r\n"));
}

TEST(ProxyClient, KeepsNothingOfAClientThatLeaves) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, kGet);
  EXPECT_EQ(proxy.in_flight("d1", "r1"), 1U);
  proxy.break_off(client);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
  EXPECT_EQ(proxy.in_flight("d1", "r1"), 0U);
  EXPECT_EQ(proxy.proxy->clients(), 0U);
  EXPECT_EQ(proxy.proxy->exchanges(), 0U);
  EXPECT_EQ(proxy.proxy->buffers_taken(), 0U);
}

TEST(ProxyClient, AnswersAClientThatHasOnlyClosedItsOwnSide) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.wire.at(client).ends = true;
  proxy.send(client, kGet);
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(proxy.taken(client), kOk);
}

TEST(ProxyClient, ReadsNothingFromAnUpstreamWhoseClientDoesNotRead) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.wire.at(client).room = 100;
  proxy.send(client, kGet);
  std::string body(1'000'000, 'b');
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + body);
  EXPECT_GT(proxy.wire.at(proxy.upstream(0)).incoming.size(), 900'000U);
  EXPECT_EQ(proxy.proxy->buffers_taken(), 1U);
  std::string got = proxy.taken(client);
  while (proxy.proxy->exchanges() > 0) {
    proxy.make_room(client, 50'000);
    got += proxy.taken(client);
  }
  proxy.make_room(client, 50'000);
  got += proxy.taken(client);
  EXPECT_EQ(got, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + body);
}

TEST(ProxyClient, CutsAClientThatStopsReading) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.wire.at(client).room = 10;
  proxy.send(client, kGet);
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + std::string(100'000, 'b'));
  proxy.advance_ms(61'000);
  EXPECT_TRUE(proxy.is_closed(client));
  EXPECT_TRUE(proxy.wire.at(client).was_reset);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
}

}  // namespace proxy_client_test
}  // namespace sluice::router
