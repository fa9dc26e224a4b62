// Requests as streams: they reach applications as any others do, and what is different about them.
#include <gtest/gtest.h>

#include "router/testing_http2.h"
#include "router/testing_proxy.h"

namespace sluice::router {
namespace proxy_http2_test {

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Own: Yes\r\n\r\nhi";
constexpr uint32_t kProtocolError = 1, kInternalError = 2, kEnhanceYourCalm = 11;

std::string body_of(const std::string& request) { return request.substr(request.find("\r\n\r\n") + 4); }

TEST(ProxyHttp2, ARequestGoesUpstreamAndItsAnswerComesBack) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  int32_t id = client.ask({.path = "/cart?x=1", .fields = {{"x-own", "1"}, {"cookie", "a=1"}, {"cookie", "b=2"}}});
  const std::string head = proxy.taken(proxy.upstream(0));
  EXPECT_TRUE(head.starts_with("GET /cart?x=1 HTTP/1.1\r\nhost: shop.example\r\nx-own: 1\r\n")) << head;
  EXPECT_NE(head.find("\r\ncookie: a=1; b=2\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("\r\nX-Forwarded-For: 192.0.2.7\r\n"), std::string::npos) << head;
  EXPECT_EQ(head.find("transfer-encoding"), std::string::npos) << head;
  proxy.send(proxy.upstream(0), kOk);
  const TestingAnswer& answer = client.answer(id);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "hi");
  EXPECT_EQ(answer.fields.at("x-own"), "Yes");
  EXPECT_EQ(answer.fields.at("content-length"), "2");
  EXPECT_TRUE(answer.over);
  EXPECT_EQ(answer.error, 0U);
  EXPECT_EQ(proxy.counts("d1", "r1").requests, 1U);
  EXPECT_EQ(proxy.proxy->clients(), 1U);
}

TEST(ProxyHttp2, StreamsRunSideBySideAndUpstreamConnectionsAreKept) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  int32_t first = client.ask({.path = "/1"}), second = client.ask({.path = "/2"});
  ASSERT_EQ(proxy.upstreams(), 2U);
  EXPECT_EQ(proxy.in_flight("d1", "r1"), 2U);
  proxy.send(proxy.upstream(1), kOk);
  EXPECT_TRUE(client.answer(second).over);
  EXPECT_FALSE(client.answer(first).over);
  client.ask({.path = "/3"});
  EXPECT_EQ(proxy.upstreams(), 2U) << "the one of the second was used again";
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_TRUE(client.answer(first).over);
}

TEST(ProxyHttp2, BodiesOfUnknownLengthGoAsChunksWithTheirTrailers) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  int32_t id = client.ask({.method = "POST", .ends = false});
  std::string head = proxy.taken(proxy.upstream(0));
  EXPECT_NE(head.find("\r\ntransfer-encoding: chunked\r\n"), std::string::npos) << head;
  client.send(id, "hello", false);
  EXPECT_EQ(proxy.taken(proxy.upstream(0)), "5\r\nhello\r\n");
  client.send(id, "!", true, {{"x-sum", "7"}, {"host", "evil.example"}});
  EXPECT_EQ(proxy.taken(proxy.upstream(0)), "1\r\n!\r\n0\r\nx-sum: 7\r\n\r\n");
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(client.answer(id).body, "hi");
  client.ask({});
  EXPECT_EQ(proxy.upstreams(), 1U) << "the connection was kept";
}

TEST(ProxyHttp2, BodiesOfKnownLengthGoAsTheyAre) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  int32_t id = client.ask({.method = "POST", .fields = {{"content-length", "5"}}, .ends = false});
  client.send(id, "hello");
  const std::string request = proxy.taken(proxy.upstream(0));
  EXPECT_NE(request.find("\r\ncontent-length: 5\r\n"), std::string::npos) << request;
  EXPECT_EQ(body_of(request), "hello");
  EXPECT_EQ(request.find("chunked"), std::string::npos);
}

TEST(ProxyHttp2, AWindowGrowsOnlyByWhatWentUpstream) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  proxy.wire.slow_connects = true;
  TestingHttp2 client(proxy);
  int32_t id = client.ask({.method = "POST", .fields = {{"content-length", "300000"}}, .ends = false});
  client.send(id, std::string(300'000, 'x'));
  EXPECT_EQ(client.may_send(id), 0) << "nothing went upstream yet";
  const int upstream = proxy.upstream(0);
  proxy.wire.at(upstream).room = 100;
  proxy.decide(upstream, true);
  EXPECT_EQ(client.may_send(id), 0);
  proxy.make_room(upstream, SIZE_MAX);
  client.flow();
  EXPECT_EQ(body_of(proxy.taken(upstream)).size(), 300'000U);
}

TEST(ProxyHttp2, AnswersWaitForTheWindowAndTheUpstreamWithThem) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  client.window(10);
  int32_t id = client.ask({});
  const std::string body(200'000, 'x');
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + body);
  EXPECT_EQ(client.answer(id).body.size(), 10U);
  EXPECT_GT(proxy.wire.at(proxy.upstream(0)).incoming.size(), 100'000U) << "what cannot be passed on is not read";
  client.grow(id, 1'000'000);
  client.grow(0, 1'000'000);
  EXPECT_EQ(client.answer(id).body, body);
  EXPECT_TRUE(client.answer(id).over);
}

TEST(ProxyHttp2, ChunkedAnswersLoseTheirChunksAndKeepTheirTrailers) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  int32_t id = client.ask({});
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel");
  proxy.send(proxy.upstream(0), "lo\r\n1\r\n!\r\n0\r\nX-Sum: 7\r\nX-Other: b\r\n\r\n");
  const TestingAnswer& answer = client.answer(id);
  EXPECT_EQ(answer.body, "hello!");
  EXPECT_EQ(answer.trailers.at("x-sum"), "7");
  EXPECT_EQ(answer.trailers.at("x-other"), "b");
  EXPECT_FALSE(answer.fields.contains("transfer-encoding"));
  EXPECT_TRUE(answer.over);
}

TEST(ProxyHttp2, AnswersWithoutLengthEndWithTheirConnection) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  int32_t id = client.ask({}), head = client.ask({.method = "HEAD"});
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\n\r\nhi");
  EXPECT_FALSE(client.answer(id).over);
  proxy.end(proxy.upstream(0));
  EXPECT_EQ(client.answer(id).body, "hi");
  EXPECT_TRUE(client.answer(id).over);
  proxy.send(proxy.upstream(1), "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n");
  EXPECT_TRUE(client.answer(head).over);
  EXPECT_EQ(client.answer(head).fields.at("content-length"), "7");
}

TEST(ProxyHttp2, InterimAnswersArePassedOn) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  int32_t id = client.ask({.method = "POST", .fields = {{"expect", "100-continue"}}, .ends = false});
  proxy.send(proxy.upstream(0), "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n");
  client.send(id, "x");
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(client.answer(id).interim, (std::vector<int>{103, 100}));
  EXPECT_EQ(client.answer(id).status, 200);
}

TEST(ProxyHttp2, AnEarlyAnswerIsWholeAndTheRestOfTheBodyIsNobodys) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  int32_t id = client.ask({.method = "POST", .ends = false});
  client.send(id, "hello", false);
  proxy.send(proxy.upstream(0), "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
  const TestingAnswer& answer = client.answer(id);
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.body, "no");
  EXPECT_TRUE(answer.over);
  EXPECT_EQ(answer.error, 0U);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
  EXPECT_FALSE(proxy.is_closed(client.fd));
}

TEST(ProxyHttp2, WhoResetsAStreamLetsGoOfTheUpstream) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  int32_t id = client.ask({});
  client.reset(id);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
  EXPECT_EQ(proxy.in_flight("d1", "r1"), 0U);
  EXPECT_EQ(proxy.counts("d1", "r1").classes[3], 1U) << "499";
  EXPECT_EQ(proxy.proxy->http2_counts().resets, 1U);
}

TEST(ProxyHttp2, ABrokenAnswerIsReset) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  int32_t id = client.ask({});
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi");
  proxy.end(proxy.upstream(0));
  EXPECT_TRUE(client.answer(id).over);
  EXPECT_EQ(client.answer(id).error, kInternalError);
  EXPECT_FALSE(proxy.is_closed(client.fd));
}

TEST(ProxyHttp2, ItsOwnAnswersAreAnswersToo) {
  DeploymentDocument paused = testing_deployment();
  paused.status = DeploymentStatus::paused;
  paused.paused_page = "soon";
  TestingProxy proxy(testing_table({paused}));
  TestingHttp2 client(proxy);
  int32_t none = client.ask({.authority = "other.example"}), soon = client.ask({}),
          bad = client.ask({.path = "/a/../b"});
  EXPECT_EQ(client.answer(none).status, 404);
  EXPECT_EQ(client.answer(soon).status, 503);
  EXPECT_EQ(client.answer(soon).body, "soon");
  EXPECT_EQ(client.answer(soon).fields.at("retry-after"), "30");
  EXPECT_EQ(client.answer(bad).status, 400);
  EXPECT_FALSE(client.answer(bad).fields.contains("connection"));
  EXPECT_TRUE(client.answer(bad).over);
}

TEST(ProxyHttp2, WhatCouldSmuggleIsAProtocolError) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  const std::vector<std::pair<std::string, std::string>> fields[] = {
      {{"host", "evil.example"}}, {{"content-length", "5"}}, {{"content-length", "0"}, {"content-length", "1"}}};
  for (const auto& each : fields) {
    int32_t id = client.ask({.fields = each});
    EXPECT_EQ(client.answer(id).error, kProtocolError) << each[0].first << ": " << each[0].second;
    EXPECT_EQ(client.answer(id).status, 0);
  }
  EXPECT_EQ(proxy.upstreams(), 0U);
}

TEST(ProxyHttp2, HeldRequestsAndRetriesAreAsEver) {
  DeploymentDocument deployment = testing_deployment();
  deployment.revisions[0].replicas = {{"tcp:10.0.0.1:80"}, {"tcp:10.0.0.2:80"}};
  TestingProxy proxy(testing_table({deployment}));
  (*proxy.table->named("d1"))->memory->held_until_ms = proxy.now.monotonic_ms() + 20'000;
  TestingHttp2 client(proxy);
  int32_t id = client.ask({.method = "POST", .ends = false});
  client.send(id, "hello");
  EXPECT_EQ(proxy.upstreams(), 0U);
  EXPECT_EQ(proxy.proxy->held(), 1U);
  (*proxy.table->named("d1"))->memory->held_until_ms = 0;
  proxy.wire.refusing = {"10.0.0.1:80"};
  proxy.proxy->release_held();
  proxy.settle();
  ASSERT_EQ(proxy.upstreams(), 1U);
  EXPECT_EQ(body_of(proxy.taken(proxy.upstream(0))), "5\r\nhello\r\n0\r\n\r\n");
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(client.answer(id).status, 200);
}

TEST(ProxyHttp2, AConnectionThatEndsTakesItsStreamsAlong) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  client.ask({});
  client.ask({});
  proxy.end(client.fd);
  EXPECT_TRUE(proxy.is_closed(client.fd));
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(1)));
  EXPECT_EQ(proxy.in_flight("d1", "r1"), 0U);
  EXPECT_EQ(proxy.proxy->clients(), 0U);
  EXPECT_EQ(proxy.proxy->buffers_taken(), 0U);
}

TEST(ProxyHttp2, AStopSaysGoodByeTwiceAndLetsStreamsFinish) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  int32_t id = client.ask({});
  proxy.proxy->begin_stop();
  proxy.settle();
  client.flow();
  EXPECT_EQ(client.goaways, 1);
  EXPECT_EQ(client.goaway_last, INT32_MAX);
  proxy.advance_ms(1'200);
  client.flow();
  EXPECT_EQ(client.goaways, 2);
  EXPECT_EQ(client.goaway_last, id);
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(client.answer(id).body, "hi");
  proxy.end(client.fd);
  EXPECT_EQ(proxy.proxy->clients(), 0U);
}

TEST(ProxyHttp2, ResetsByTheThousandEndTheConnection) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  for (int i = 0; i < 2'000 && client.goaways == 0; ++i) client.reset(client.ask({}));
  EXPECT_EQ(client.goaways, 1);
  EXPECT_EQ(client.goaway_error, kEnhanceYourCalm);
  EXPECT_GE(proxy.proxy->http2_counts().resets, 1'000U);
}

TEST(ProxyHttp2, TheLogSaysWhatProtocolItWas) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingHttp2 client(proxy);
  client.ask({.authority = "other.example"});
  EXPECT_NE(proxy.log_text().find("\"protocol\":\"HTTP/2\""), std::string::npos);
}

TEST(ProxyHttp2, ABeginningThatIsNoPrefaceIsHttp11) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  for (char c : std::string("PUT / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 0\r\n\r\n")) {
    proxy.send(client, {&c, 1});
  }
  EXPECT_EQ(proxy.upstreams(), 1U);
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 200 OK\r\n"));
  proxy.send(client, kHttp2Preface);
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 400 ")) << "only a connection that begins can be one of HTTP/2";
}

}  // namespace proxy_http2_test
}  // namespace sluice::router
