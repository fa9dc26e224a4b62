// Answers: every way to end one, and what becomes of those that never do.
#include <gtest/gtest.h>

#include "router/testing_proxy.h"

namespace sluice::router {
namespace proxy_upstream_test {

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n";
constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

struct Answered : TestingProxy {
  explicit Answered(const std::string& request = kGet) : TestingProxy(testing_table({testing_deployment()})) {
    client = connect();
    send(client, request);
    taken(upstream(0));
  }
  int client = -1;
};

TEST(ProxyUpstream, KeepsAConnectionAndItsAnswersApart) {
  Answered proxy;
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(proxy.taken(proxy.client), kOk);
  EXPECT_FALSE(proxy.is_closed(proxy.upstream(0)));
  proxy.send(proxy.client, kGet);
  EXPECT_EQ(proxy.upstreams(), 1U);
}

TEST(ProxyUpstream, TakesAnAnswerHoweverItIsCut) {
  Answered proxy;
  std::string answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n";
  for (char c : answer) proxy.send(proxy.upstream(0), std::string_view(&c, 1));
  EXPECT_EQ(proxy.taken(proxy.client), answer);
  EXPECT_EQ(proxy.proxy->exchanges(), 0U);
  EXPECT_FALSE(proxy.is_closed(proxy.upstream(0)));
}

TEST(ProxyUpstream, RemovesWhatIsBetweenTwoNeighboursAlone) {
  Answered proxy;
  proxy.send(proxy.upstream(0),
             "HTTP/1.1 200 OK\r\nConnection: X-Hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nX-End: 2\r\n"
             "Content-Length: 0\r\n\r\n");
  EXPECT_EQ(proxy.taken(proxy.client), "HTTP/1.1 200 OK\r\nX-End: 2\r\nContent-Length: 0\r\n\r\n");
}

TEST(ProxyUpstream, EndsAnAnswerWithoutALengthWithTheConnection) {
  Answered proxy;
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\n\r\nabc");
  proxy.end(proxy.upstream(0));
  EXPECT_EQ(proxy.taken(proxy.client), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
  EXPECT_TRUE(proxy.wire.at(proxy.client).shut);
}

TEST(ProxyUpstream, TakesAnAnswerThatComesTogetherWithItsEnd) {
  Answered proxy;
  proxy.wire.at(proxy.upstream(0)).incoming = "HTTP/1.1 200 OK\r\n\r\nabc";
  proxy.end(proxy.upstream(0));
  EXPECT_EQ(proxy.taken(proxy.client), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
}

TEST(ProxyUpstream, HasNoBodyForHead) {
  Answered proxy("HEAD / HTTP/1.1\r\nHost: shop.example\r\n\r\n");
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
  EXPECT_EQ(proxy.taken(proxy.client), "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
  EXPECT_EQ(proxy.proxy->exchanges(), 0U);
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 0U);
}

TEST(ProxyUpstream, PassesOn100ContinueAndThenTheBody) {
  Answered proxy("POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  proxy.send(proxy.upstream(0), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(proxy.taken(proxy.client), "HTTP/1.1 100 Continue\r\n\r\n");
  proxy.send(proxy.client, "abc");
  EXPECT_EQ(proxy.taken(proxy.upstream(0)), "abc");
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(proxy.taken(proxy.client), kOk);
}

TEST(ProxyUpstream, ClosesAfterAnAnswerThatCameBeforeTheRequestWasWhole) {
  Answered proxy("POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 1000\r\n\r\nabc");
  proxy.send(proxy.upstream(0), "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(proxy.taken(proxy.client), "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
  EXPECT_TRUE(proxy.wire.at(proxy.client).shut);
}

TEST(ProxyUpstream, GivesAnOldClientNoChunks) {
  Answered proxy("GET / HTTP/1.0\r\nHost: shop.example\r\nConnection: keep-alive\r\n\r\n");
  proxy.send(proxy.upstream(0),
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(proxy.taken(proxy.client), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabcde");
  EXPECT_TRUE(proxy.wire.at(proxy.client).shut);
}

TEST(ProxyUpstream, Answers502ForGarbage) {
  for (const char* garbage : {"SSH-2.0-x\r\n", "HTTP/1.1 200 OK\nX: y\n\n", "HTTP/1.1 99 No\r\n\r\n",
                              "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                              "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
                              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    Answered proxy;
    proxy.send(proxy.upstream(0), garbage);
    EXPECT_TRUE(proxy.taken(proxy.client).starts_with("HTTP/1.1 502 Bad Gateway\r\n")) << garbage;
    EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
    EXPECT_EQ(proxy.counts("d1", "r1").failures, 1U);
  }
}

TEST(ProxyUpstream, CutsTheClientOffWhenAnAnswerBreaksOff) {
  for (bool rudely : {false, true}) {
    Answered proxy;
    proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    rudely ? proxy.break_off(proxy.upstream(0)) : proxy.end(proxy.upstream(0));
    EXPECT_TRUE(proxy.wire.at(proxy.client).was_reset);
  }
}

TEST(ProxyUpstream, DoesNotTakeAResetForTheEndOfAnAnswer) {
  Answered proxy;
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\n\r\nabc");
  proxy.break_off(proxy.upstream(0));
  EXPECT_TRUE(proxy.wire.at(proxy.client).was_reset);
}

TEST(ProxyUpstream, Answers504IfTheFirstByteDoesNotComeInTime) {
  Answered proxy;
  proxy.advance_ms(59'000);
  EXPECT_EQ(proxy.taken(proxy.client), "");
  proxy.advance_ms(1'500);
  EXPECT_TRUE(proxy.taken(proxy.client).starts_with("HTTP/1.1 504 Gateway Timeout\r\n"));
  EXPECT_NE(proxy.log_text().find("the upstream did not answer in time"), std::string::npos);
}

// A replica that could have answered would be left out if it were blamed.
struct HalfSent : TestingProxy {
  explicit HalfSent(const std::string& more = "") : TestingProxy(table()) {
    client = connect();
    send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 8\r\n" + more + "\r\nhalf");
    taken(upstream(0));
  }
  static TableDocument table() {
    DeploymentDocument deployment = testing_deployment();
    deployment.timeouts.first_byte_ms = 10'000;
    return testing_table({deployment});
  }
  int client = -1;
};

TEST(ProxyUpstream, IsNotLateWhileTheClientIs) {
  for (const char* more : {"", "Expect: 100-continue\r\n"}) {
    HalfSent proxy(more);
    proxy.advance_ms(59'000);
    EXPECT_EQ(proxy.taken(proxy.client), "");
    proxy.advance_ms(1'500);
    EXPECT_TRUE(proxy.taken(proxy.client).starts_with("HTTP/1.1 408 Request Timeout\r\n")) << more;
    EXPECT_EQ(proxy.counts("d1", "r1").failures, 0U);
  }
}

TEST(ProxyUpstream, IsLateOnceItHasTheBody) {
  HalfSent proxy;
  proxy.advance_ms(50'000);
  proxy.send(proxy.client, "half");
  proxy.advance_ms(9'000);
  EXPECT_EQ(proxy.taken(proxy.client), "");
  proxy.advance_ms(1'500);
  EXPECT_TRUE(proxy.taken(proxy.client).starts_with("HTTP/1.1 504 Gateway Timeout\r\n"));
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 1U);
}

TEST(ProxyUpstream, IsLateIfItDoesNotTakeTheBody) {
  HalfSent proxy;
  proxy.wire.at(proxy.upstream(0)).room = 0;
  proxy.send(proxy.client, "ha");
  proxy.advance_ms(9'000);
  EXPECT_EQ(proxy.taken(proxy.client), "");
  proxy.advance_ms(1'500);
  EXPECT_TRUE(proxy.taken(proxy.client).starts_with("HTTP/1.1 504 Gateway Timeout\r\n"));
}

TEST(ProxyUpstream, IsNotLateWhileItsAnswerIsNotRead) {
  HalfSent proxy;
  proxy.wire.at(proxy.client).room = 0;
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nearly");
  proxy.send(proxy.client, "half");
  proxy.advance_ms(59'000);
  EXPECT_FALSE(proxy.is_closed(proxy.client));
  proxy.advance_ms(1'500);
  EXPECT_TRUE(proxy.is_closed(proxy.client));
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 0U);
}

TEST(ProxyUpstream, MayTalkForLongToAnOldClient) {
  Answered proxy("GET / HTTP/1.0\r\nHost: shop.example\r\n\r\n");
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 5; ++i) {
    proxy.advance_ms(40'000);
    proxy.send(proxy.upstream(0), "3\r\nabc\r\n");
  }
  proxy.send(proxy.upstream(0), "0\r\n\r\n");
  EXPECT_TRUE(proxy.taken(proxy.client).ends_with("abcabcabcabcabc"));
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 0U);
}

TEST(ProxyUpstream, LetsAnEventStreamBeQuietForLonger) {
  Answered proxy;
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n");
  proxy.advance_ms(200'000);
  proxy.send(proxy.upstream(0), "data: 2\n\n");
  EXPECT_TRUE(proxy.taken(proxy.client).ends_with("data: 1\n\ndata: 2\n\n"));
}

TEST(ProxyUpstream, ClosesAKeptConnectionThatSpeaksUnasked) {
  Answered proxy;
  proxy.send(proxy.upstream(0), kOk);
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\n");
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
}

TEST(ProxyUpstream, KeepsNoConnectionOnWhichMoreCameThanTheAnswer) {
  Answered proxy;
  proxy.send(proxy.upstream(0), std::string(kOk) + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
  EXPECT_EQ(proxy.taken(proxy.client), kOk);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
}

TEST(ProxyUpstream, LeavesAReplicaAloneForLongerThatFailsWhenItIsTriedAgain) {
  Answered proxy;
  proxy.send(proxy.upstream(0), "x");
  for (int i = 0; i < 2; ++i) {
    proxy.send(proxy.client, kGet);
    proxy.send(proxy.wire.connected.back(), "x");
  }
  const Replica& replica = *proxy.proxy->pools().back()->replicas().front();
  EXPECT_EQ(replica.ejected_until_ms, proxy.now.monotonic_ms() + 1'000);
  proxy.advance_ms(1'100);
  proxy.send(proxy.client, kGet);
  proxy.send(proxy.wire.connected.back(), "x");
  EXPECT_EQ(replica.ejected_until_ms, proxy.now.monotonic_ms() + 2'000);
}

TEST(ProxyUpstream, GivesASlowReaderOfTheLastBytesItsTime) {
  Answered proxy("GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n");
  proxy.wire.at(proxy.client).room = 10;
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + std::string(1'000, 'b'));
  std::string got = proxy.taken(proxy.client);
  for (int i = 0; i < 25; ++i) {
    proxy.advance_ms(30'000);
    proxy.make_room(proxy.client, 50);
    got += proxy.taken(proxy.client);
  }
  EXPECT_TRUE(got.ends_with(std::string(1'000, 'b')));
  EXPECT_FALSE(proxy.wire.at(proxy.client).was_reset);
}

TEST(FirstWeek19, AnswerThatIsIncompleteIsAcknowledgedAtOnce) {
  Answered proxy;
  TestingSocket& upstream = proxy.wire.at(proxy.upstream(0));
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Le");
  EXPECT_EQ(upstream.acknowledged, 1U);
  proxy.send(proxy.upstream(0), "ngth: 4\r\n\r\n");
  EXPECT_EQ(upstream.acknowledged, 2U);
  proxy.send(proxy.upstream(0), "ab");
  EXPECT_EQ(upstream.acknowledged, 3U);
  proxy.send(proxy.upstream(0), "cd");
  EXPECT_EQ(upstream.acknowledged, 3U) << "it is complete";
}

TEST(FirstWeek19, AnswerInOnePieceCostsNoCall) {
  Answered proxy;
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(proxy.wire.at(proxy.upstream(0)).acknowledged, 0U);
}

// --- replicas with TLS

DeploymentDocument with_tls(int replicas, Transport transport = Transport::http) {
  DeploymentDocument deployment = testing_deployment();
  deployment.revisions[0].transport = transport;
  deployment.revisions[0].replicas.clear();
  for (int i = 1; i <= replicas; ++i) {
    deployment.revisions[0].replicas.push_back({.address = "tls:10.0.0." + std::to_string(i) + ":443", .ca = "system"});
  }
  return deployment;
}

TEST(ProxyUpstream, NothingIsSentBeforeTlsIsSettled) {
  TestingProxy proxy(testing_table({with_tls(1)}));
  const int client = proxy.connect();
  proxy.send(client, kGet);
  const int first = proxy.upstream(0);
  proxy.decide(first, true);
  EXPECT_EQ(proxy.taken(first), "");
  proxy.settle_tls(first, true);
  EXPECT_TRUE(proxy.taken(first).starts_with("GET / HTTP/1.1\r\n"));
  proxy.send(first, kOk);
  EXPECT_EQ(proxy.taken(client), kOk);
  proxy.send(client, kGet);
  EXPECT_EQ(proxy.upstreams(), 1U) << "it is kept like any other";
}

TEST(ProxyUpstream, WhoIsNotBelievedGetsNothingAndAnotherIsAsked) {
  TestingProxy proxy(testing_table({with_tls(2)}));
  const int client = proxy.connect();
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 1\r\n\r\nx");
  proxy.settle_tls(proxy.upstream(0), false);
  ASSERT_EQ(proxy.upstreams(), 2U);
  EXPECT_EQ(proxy.taken(proxy.upstream(0)), "");
  EXPECT_NE(proxy.wire.at(proxy.upstream(0)).to, proxy.wire.at(proxy.upstream(1)).to);
  proxy.settle_tls(proxy.upstream(1), false);
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 502 Bad Gateway\r\n"));
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 2U);
}

TEST(ProxyUpstream, TlsThatIsNeverSettledIsNoConnection) {
  TestingProxy proxy(testing_table({with_tls(2)}));
  const int client = proxy.connect();
  proxy.send(client, kGet);
  for (size_t i = 0; i < proxy.upstreams() && i < 3; ++i) {
    proxy.decide(proxy.upstream(i), true);
    proxy.advance_ms(2'100);
  }
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 50"));
  EXPECT_EQ(proxy.taken(proxy.upstream(0)), "");
}

TEST(ProxyUpstream, WhatIsOfTlsAloneDoesNotEndAKeptConnection) {
  TestingProxy proxy(testing_table({with_tls(1)}));
  const int client = proxy.connect();
  proxy.send(client, kGet);
  proxy.settle_tls(proxy.upstream(0), true);
  proxy.send(proxy.upstream(0), kOk);
  proxy.send(proxy.upstream(0), "");  // a ticket: it is readable, and there is nothing to be read
  EXPECT_FALSE(proxy.is_closed(proxy.upstream(0)));
  proxy.send(client, kGet);
  EXPECT_EQ(proxy.upstreams(), 1U);
}

TEST(ProxyUpstream, AReplicaThatSpeaksHttp2IsBelievedFirstToo) {
  TestingProxy proxy(testing_table({with_tls(2, Transport::http2)}));
  const int client = proxy.connect();
  proxy.send(client, kGet);
  EXPECT_EQ(proxy.taken(proxy.upstream(0)), "");
  proxy.settle_tls(proxy.upstream(0), false);
  ASSERT_EQ(proxy.upstreams(), 2U);
  proxy.settle_tls(proxy.upstream(1), true);
  EXPECT_TRUE(proxy.taken(proxy.upstream(1)).starts_with("PRI * HTTP/2.0\r\n"));
}

}  // namespace proxy_upstream_test
}  // namespace sluice::router
