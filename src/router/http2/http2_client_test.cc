// What a connection to a replica says and is told, frame by frame. How requests fare that are passed on so is in
// tests/router/test_grpc.py.
#include "router/http2/http2_client.h"

#include <gtest/gtest.h>

#include <cstring>

#include "router/http2/http2_session.h"

namespace sluice::router {
namespace http2_client_test {

class TestingAnswers final : public Http2ClientEvents {
 public:
  void answer(void*, uint16_t status, std::string_view fields, bool has_length, bool ends) override {
    told += "answer " + std::to_string(status) + (has_length ? " sized" : "") + (ends ? " whole" : "") + "\n";
    told += fields;
  }
  void body(void*, std::string_view bytes) override { told += "body " + std::string(bytes) + "\n"; }
  void end_of_body(void*, std::string_view lines) override { told += "end\n" + std::string(lines); }
  void over(void*, bool refused) override { told += refused ? "refused\n" : "over\n"; }
  void not_sent(int32_t id) override { told += "not sent " + std::to_string(id) + "\n"; }
  size_t fill(void*, char* into, size_t room, bool& last) override {
    const size_t size = std::min(room, content.size());
    std::memcpy(into, content.data(), size);
    content.erase(0, size);
    last = whole && content.empty();
    return size;
  }
  std::string_view trailers(void*) override { return "x-sum: 7\r\n"; }

  std::string told, content;
  bool whole = true;
};

// The other side, which is a session of the router's edge.
class TestingReplica final : public Http2Events {
 public:
  void* request(int32_t, std::string_view head, bool ends) override {
    told += head;
    if (ends) told += "whole\n";
    return this;
  }
  void body(void*, std::string_view bytes) override { told += "body " + std::string(bytes) + "\n"; }
  void end_of_body(void*, std::string_view lines) override { told += "end\n" + std::string(lines); }
  void over(void*) override {}
  size_t fill(void*, char*, size_t, bool& last) override {
    last = true;
    return 0;
  }
  std::string_view trailers(void*) override { return {}; }

  std::string told;
};

constexpr std::string_view kSettings("\0\0\0\4\0\0\0\0\0", 9);
constexpr std::string_view kNoContent("\0\0\1\1\5\0\0\0\1\x89", 10);  // :status 204, and the end
constexpr std::string_view kOk("\0\0\1\1\4\0\0\0\1\x88", 10);
constexpr std::string_view kHello("\0\0\5\0\1\0\0\0\1hello", 14);
constexpr std::string_view kRefused("\0\0\4\3\0\0\0\0\1\0\0\0\7", 13);
constexpr std::string_view kGoAway("\0\0\x8\7\0\0\0\0\0\0\0\0\0\0\0\0\0", 17);  // before any request

class Http2ClientTest : public testing::Test {
 protected:
  std::string sent() {
    std::string all;
    for (std::string_view bytes = client.send(); !bytes.empty(); bytes = client.send()) all += bytes;
    return all;
  }
  int32_t ask() { return client.ask("GET /cart HTTP/1.1\r\nhost: shop.example\r\n", false, this); }

  TestingAnswers answers;
  Http2Client client{answers};
};

TEST_F(Http2ClientTest, ARequestArrivesWithWhatIsTheRequestsOwn) {
  TestingReplica replica;
  Http2Counts counts;
  SessionPages pages;
  Http2Session session(replica, counts, pages);
  ask();
  answers.content = "milk";
  client.ask(
      "POST /cart HTTP/1.1\r\nhost: shop.example\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\nx-a: 1\r\n",
      true, this);
  EXPECT_TRUE(session.receive(sent(), 0));
  EXPECT_EQ(replica.told,
            "GET /cart HTTP/1.1\r\nhost: shop.example\r\nte: trailers\r\n\r\nwhole\n"
            "POST /cart HTTP/1.1\r\nhost: shop.example\r\nx-a: 1\r\nte: trailers\r\ntransfer-encoding: chunked\r\n\r\n"
            "body milk\nend\nx-sum: 7\r\n");
}

TEST_F(Http2ClientTest, AnAnswerIsToldInItsParts) {
  EXPECT_EQ(ask(), 1);
  sent();
  EXPECT_TRUE(client.receive(kSettings));
  EXPECT_TRUE(client.receive(kOk));
  EXPECT_EQ(answers.told, "answer 200\n");
  EXPECT_TRUE(client.receive(kHello));
  EXPECT_EQ(answers.told, "answer 200\nbody hello\nend\nover\n");
  EXPECT_FALSE(client.has_ended()) << "another may follow";
}

TEST_F(Http2ClientTest, AnAnswerMayBeAHeadAlone) {
  ask();
  sent();
  client.receive(std::string(kSettings) + std::string(kNoContent));
  EXPECT_EQ(answers.told, "answer 204 whole\nover\n");
}

TEST_F(Http2ClientTest, WhoeverLetGoHearsNothingMore) {
  client.let_go(ask());
  sent();
  client.receive(std::string(kSettings) + std::string(kOk) + std::string(kHello));
  EXPECT_EQ(answers.told, "");
}

TEST_F(Http2ClientTest, WhatNobodyLookedAtIsSaidToBeRefused) {
  ask();
  sent();
  client.receive(std::string(kSettings) + std::string(kRefused));
  EXPECT_EQ(answers.told, "refused\n");
}

TEST_F(Http2ClientTest, NothingIsAskedOfAReplicaThatGoesAway) {
  EXPECT_TRUE(client.takes(0));
  EXPECT_FALSE(client.takes(kMostUpstreamStreams));
  sent();
  client.receive(std::string(kSettings) + std::string(kGoAway));
  EXPECT_FALSE(client.takes(0));
}

TEST_F(Http2ClientTest, BytesOfAnotherProtocolEndIt) {
  ask();
  sent();
  client.receive("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
  sent();
  EXPECT_TRUE(client.has_ended());
  EXPECT_FALSE(client.takes(0));
}

TEST(LineOf, IsTheFirstOfThatField) {
  EXPECT_EQ(line_of("x-a: 1\r\nHost:  shop.example \r\nhost: other.example\r\n", Field::host), "shop.example");
  EXPECT_EQ(line_of("x-a: 1\r\n", Field::host), "");
}

}  // namespace http2_client_test
}  // namespace sluice::router
