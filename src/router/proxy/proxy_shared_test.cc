// Replicas that speak HTTP/2: to clients there is no difference, and one connection has many requests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "router/testing_http2.h"
#include "router/testing_proxy.h"

namespace sluice::router {
namespace proxy_shared_test {

constexpr uint32_t kRefusedStream = 7;

// A replica at the other end of a connection that the proxy has made: the router's own server side.
class Replica final : public Http2Events {
 public:
  Replica(TestingProxy& proxy, int fd) : proxy_(proxy), fd_(fd), session(*this, counts_, pages_) { flow(); }

  void* request(int32_t id, std::string_view head, bool) override {
    ids.push_back(id);
    calls[id].head = head;
    return &calls[id];
  }
  void body(void* stream, std::string_view bytes) override {
    static_cast<Call*>(stream)->body += bytes;
    taken_ += bytes.size();
  }
  void end_of_body(void* stream, std::string_view trailers) override {
    static_cast<Call*>(stream)->trailers = trailers;
    static_cast<Call*>(stream)->ended = true;
  }
  void over(void* stream) override { static_cast<Call*>(stream)->over = true; }
  size_t fill(void* stream, char* into, size_t room, bool& last) override {
    Call& call = *static_cast<Call*>(stream);
    const size_t size = std::min(room, call.answer.size());
    std::memcpy(into, call.answer.data(), size);
    call.answer.erase(0, size);
    last = call.answer.empty();
    return size;
  }
  std::string_view trailers(void* stream) override { return static_cast<Call*>(stream)->answer_trailers; }

  void flow() {
    while (true) {
      const std::string came = proxy_.taken(fd_);
      if (!came.empty()) session.receive(came, 0);
      std::string bytes;
      for (auto piece = session.send(0); !piece.empty(); piece = session.send(0)) bytes += piece;
      if (came.empty() && bytes.empty()) return;
      if (!bytes.empty() && !proxy_.is_closed(fd_)) proxy_.send(fd_, bytes);
    }
  }
  void answer(int32_t id, const std::string& head, const std::string& body = "", const std::string& trailers = "") {
    calls[id].answer = body;
    calls[id].answer_trailers = trailers;
    ResponseHead parsed;
    ASSERT_EQ(parse_response_head(head, parsed), Parsed::complete);
    session.answer(id, parsed, {}, !body.empty() || !trailers.empty());
    flow();
  }
  void refuse(int32_t id) {
    session.reset(id, kRefusedStream);
    flow();
  }

  struct Call {
    std::string head, body, trailers, answer, answer_trailers;
    bool ended = false;
    bool over = false;
  };
  std::map<int32_t, Call> calls;
  std::vector<int32_t> ids;

 private:
  TestingProxy& proxy_;
  int fd_;
  size_t taken_ = 0;
  Http2Counts counts_;
  SessionPages pages_;

 public:
  Http2Session session;
};

TableDocument table_of_http2() {
  DeploymentDocument deployment = testing_deployment();
  deployment.revisions[0].transport = Transport::http2;
  return testing_table({deployment});
}

constexpr const char* kGet = "GET /cart HTTP/1.1\r\nHost: shop.example\r\n\r\n";
constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Own: Yes\r\n\r\n";

TEST(ProxyShared, RequestsShareAConnection) {
  TestingProxy proxy(table_of_http2());
  const int first = proxy.connect(), second = proxy.connect();
  proxy.send(first, kGet);
  proxy.send(second, kGet);
  ASSERT_EQ(proxy.upstreams(), 1U);
  Replica replica(proxy, proxy.upstream(0));
  ASSERT_EQ(replica.ids.size(), 2U);
  const std::string head = replica.calls[replica.ids[0]].head;
  EXPECT_TRUE(head.starts_with("GET /cart HTTP/1.1\r\nhost: shop.example\r\n")) << head;
  EXPECT_NE(head.find("x-forwarded-for: 192.0.2.7\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("te: trailers\r\n"), std::string::npos) << head;
  replica.answer(replica.ids[1], kOk, "hi");
  const std::string answer = proxy.taken(second);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 \r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nhi")) << answer;
  EXPECT_NE(answer.find("x-own: Yes\r\n"), std::string::npos) << answer;
  EXPECT_EQ(proxy.taken(first), "");
  replica.answer(replica.ids[0], "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_TRUE(proxy.taken(first).starts_with("HTTP/1.1 204"));
  proxy.send(first, kGet);
  replica.flow();
  EXPECT_EQ(replica.ids.size(), 3U);
  EXPECT_EQ(proxy.upstreams(), 1U);
  EXPECT_EQ(proxy.counts("d1", "r1").requests, 2U);
}

TEST(ProxyShared, BodiesAndTrailersPassBothWays) {
  TestingProxy proxy(table_of_http2());
  const int client = proxy.connect();
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  Replica replica(proxy, proxy.upstream(0));
  Replica::Call& call = replica.calls[replica.ids.at(0)];
  EXPECT_EQ(call.body, "hello");
  EXPECT_FALSE(call.ended);
  proxy.send(client, "1\r\n!\r\n0\r\nX-Sum: 7\r\n\r\n");
  replica.flow();
  EXPECT_EQ(call.body, "hello!");
  EXPECT_TRUE(call.ended);
  EXPECT_EQ(call.trailers, "x-sum: 7\r\n");
  EXPECT_EQ(call.head.find("transfer-encoding: chunked\r\ntransfer"), std::string::npos);
  replica.answer(replica.ids[0], "HTTP/1.1 200 OK\r\n\r\n", "whole", "x-end: 1\r\n");
  const std::string answer = proxy.taken(client);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n5\r\nwhole\r\n0\r\nx-end: 1\r\n\r\n")) << answer;
}

TEST(ProxyShared, ALargeAnswerWaitsForItsClient) {
  TestingProxy proxy(table_of_http2());
  const int client = proxy.connect();
  proxy.send(client, kGet);
  Replica replica(proxy, proxy.upstream(0));
  proxy.make_room(client, 0);
  const std::string body(300'000, 'b');
  replica.answer(replica.ids.at(0), "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n", body);
  EXPECT_GT(replica.calls[replica.ids[0]].answer.size(), 150'000U) << "the window was not opened";
  std::string came;
  for (int i = 0; i < 100 && came.size() < body.size(); ++i) {
    proxy.make_room(client, 64'000);
    replica.flow();
    came += proxy.taken(client);
  }
  EXPECT_TRUE(came.ends_with("\r\n\r\n" + body));
}

TEST(ProxyShared, WhatIsRefusedIsAskedAgain) {
  TestingProxy proxy(table_of_http2());
  const int client = proxy.connect();
  proxy.send(client, "POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 2\r\n\r\nhi");
  Replica replica(proxy, proxy.upstream(0));
  replica.refuse(replica.ids.at(0));
  ASSERT_EQ(replica.ids.size(), 2U);
  EXPECT_EQ(replica.calls[replica.ids[1]].body, "hi");
  replica.answer(replica.ids[1], kOk, "ok");
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 200"));
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 0U);
  EXPECT_EQ(proxy.counts("d1", "r1").retries, 1U);
}

TEST(ProxyShared, GoawayEndsNothingThatWasTaken) {
  TestingProxy proxy(table_of_http2());
  const int first = proxy.connect(), second = proxy.connect();
  proxy.send(first, kGet);
  Replica replica(proxy, proxy.upstream(0));
  replica.session.end();
  replica.flow();
  proxy.send(second, kGet);
  ASSERT_EQ(proxy.upstreams(), 2U);
  replica.answer(replica.ids.at(0), kOk, "hi");
  EXPECT_TRUE(proxy.taken(first).ends_with("hi"));
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
  Replica other(proxy, proxy.upstream(1));
  other.answer(other.ids.at(0), kOk, "ho");
  EXPECT_TRUE(proxy.taken(second).ends_with("ho"));
}

TEST(ProxyShared, AConnectionThatFailsIsTriedAgain) {
  TestingProxy proxy(table_of_http2());
  proxy.wire.slow_connects = true;
  const int client = proxy.connect();
  proxy.send(client, kGet);
  proxy.decide(proxy.upstream(0), false);
  ASSERT_EQ(proxy.upstreams(), 2U);
  proxy.decide(proxy.upstream(1), true);
  Replica replica(proxy, proxy.upstream(1));
  replica.answer(replica.ids.at(0), kOk, "hi");
  EXPECT_TRUE(proxy.taken(client).ends_with("hi"));
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 1U);
}

TEST(ProxyShared, AConnectionThatBreaksFailsWhatWasBegun) {
  TestingProxy proxy(table_of_http2());
  const int client = proxy.connect();
  proxy.send(client, kGet);
  { Replica replica(proxy, proxy.upstream(0)); }
  proxy.break_off(proxy.upstream(0));
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 502"));
  EXPECT_EQ(proxy.proxy->exchanges(), 0U);
}

TEST(ProxyShared, AClientThatLeavesTakesItsStreamAlong) {
  TestingProxy proxy(table_of_http2());
  const int client = proxy.connect(), other = proxy.connect();
  proxy.send(client, kGet);
  proxy.send(other, kGet);
  Replica replica(proxy, proxy.upstream(0));
  proxy.break_off(client);
  replica.flow();
  EXPECT_TRUE(replica.calls[replica.ids.at(0)].over);
  EXPECT_FALSE(proxy.is_closed(proxy.upstream(0)));
  replica.answer(replica.ids.at(1), kOk, "hi");
  EXPECT_TRUE(proxy.taken(other).ends_with("hi"));
}

TEST(ProxyShared, AConnectionWithoutRequestsIsClosedInTime) {
  TestingProxy proxy(table_of_http2());
  const int client = proxy.connect();
  proxy.send(client, kGet);
  Replica replica(proxy, proxy.upstream(0));
  replica.answer(replica.ids.at(0), kOk, "hi");
  EXPECT_FALSE(proxy.is_closed(proxy.upstream(0)));
  proxy.advance_ms(61'000);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
}

TEST(ProxyShared, ACallIsCountedByItsOwnStatus) {
  TestingProxy proxy(table_of_http2());
  TestingHttp2 client(proxy);
  const TestingRequest call{
      .method = "POST", .path = "/shop.Cart/Add", .fields = {{"content-type", "application/grpc"}}, .ends = false};
  const int32_t id = client.ask(call);
  client.send(id, "abc");
  Replica replica(proxy, proxy.upstream(0));
  EXPECT_EQ(replica.calls[replica.ids.at(0)].body, "abc");
  replica.answer(replica.ids[0], "HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\n\r\n", "xyz",
                 "grpc-status: 14\r\ngrpc-message: full\r\n");
  const TestingAnswer& answer = client.answer(id);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "xyz");
  EXPECT_EQ(answer.trailers.at("grpc-status"), "14");
  EXPECT_EQ(proxy.counts("d1", "r1").classes[4], 1U);
  // With a head alone.
  const int32_t next = client.ask(call);
  client.send(next, "abc");
  replica.flow();
  replica.answer(replica.ids.at(1), "HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ngrpc-status: 5\r\n\r\n");
  EXPECT_EQ(client.answer(next).fields.at("grpc-status"), "5");
  EXPECT_EQ(proxy.counts("d1", "r1").classes[3], 1U);
}

TEST(ProxyShared, WhatTheRouterAnswersToACallIsAStatusOfGrpc) {
  DeploymentDocument deployment = testing_deployment();
  deployment.revisions[0].transport = Transport::http2;
  deployment.revisions[0].replicas.clear();
  TestingProxy proxy(testing_table({deployment}));
  TestingHttp2 client(proxy);
  const int32_t id = client.ask({.method = "POST", .fields = {{"content-type", "application/grpc"}}});
  const TestingAnswer& answer = client.answer(id);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.fields.at("grpc-status"), "14");
  EXPECT_TRUE(answer.over);
  const int32_t other = client.ask({.fields = {{"content-type", "application/json"}}});
  EXPECT_EQ(client.answer(other).status, 503);
}

}  // namespace proxy_shared_test
}  // namespace sluice::router
