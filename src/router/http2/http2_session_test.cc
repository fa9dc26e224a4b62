// What a session takes, says and refuses by itself. How requests fare is in proxy/proxy_http2_test.cc, and frame by
// frame in tests/router/test_http2_frames.py.
#include "router/http2/http2_session.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace http2_session_test {

class TestingEvents final : public Http2Events {
 public:
  void* request(int32_t id, std::string_view head, bool ends) override {
    heads.emplace_back(head);
    ids.push_back(id);
    whole = ends;
    return this;
  }
  void body(void*, std::string_view bytes) override { content += bytes; }
  void end_of_body(void*, std::string_view) override { whole = true; }
  void over(void*) override { ++ended; }
  size_t fill(void*, char*, size_t, bool& last) override {
    last = true;
    return 0;
  }
  std::string_view trailers(void*) override { return {}; }

  std::vector<std::string> heads;
  std::vector<int32_t> ids;
  std::string content;
  bool whole = false;
  int ended = 0;
};

// GET / of shop.example, by the static table.
constexpr std::string_view kRequest(
    "\0\0\x11\1\5\0\0\0\1"
    "\x82\x86\x84\x41\x0cshop.example",
    26);
constexpr std::string_view kSettings("\0\0\0\4\0\0\0\0\0", 9);

TEST(Http2Session, WritesAHeadAsLines) {
  TestingEvents events;
  Http2Counts counts;
  SessionPages pages;
  Http2Session session(events, counts, pages);
  EXPECT_TRUE(session.receive(kHttp2Preface, 0));
  EXPECT_TRUE(session.receive(kSettings, 0));
  for (char c : kRequest) EXPECT_TRUE(session.receive({&c, 1}, 0)) << "in whatever pieces";
  ASSERT_EQ(events.heads.size(), 1U);
  EXPECT_EQ(events.heads[0], "GET / HTTP/1.1\r\nhost: shop.example\r\n\r\n");
  EXPECT_TRUE(events.whole);
  EXPECT_EQ(counts.streams, 1U);
  EXPECT_FALSE(session.send(0).empty()) << "its settings";
  EXPECT_FALSE(session.has_ended());
}

TEST(Http2Session, WhatIsNoPrefaceEndsIt) {
  TestingEvents events;
  Http2Counts counts;
  SessionPages pages;
  Http2Session session(events, counts, pages);
  EXPECT_FALSE(session.receive("GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n", 0));
  EXPECT_TRUE(session.has_ended());
  EXPECT_TRUE(events.heads.empty());
}

TEST(Http2Session, AStreamThatIsResetIsNotToldOfAgain) {
  TestingEvents events;
  Http2Counts counts;
  SessionPages pages;
  Http2Session session(events, counts, pages);
  session.receive(std::string(kHttp2Preface) + std::string(kSettings) + std::string(kRequest), 0);
  session.reset(events.ids[0], 8);
  while (!session.send(0).empty()) {
  }
  EXPECT_EQ(events.ended, 0);
}

// A request of stream 1 whose x-own goes into the table of both ends, one of stream 3 that only points there, and one
// of stream 5 to be answered with a body.
TEST(Http2Session, RestsBetweenRequestsAndKnowsWhatItKnew) {
  const std::string first =
      std::string("\0\0\x1c\1\5\0\0\0\1", 9) + "\x82\x86\x84\x41\x0cshop.example\x40\x05x-own\x03yes";
  const std::string again = std::string("\0\0\5\1\5\0\0\0\3", 9) + "\x82\x86\x84\xbf\xbe";
  TestingEvents events;
  Http2Counts counts;
  SessionPages pages;
  Http2Session resting(events, counts, pages);
  TestingEvents other_events;
  Http2Session awake(other_events, counts, pages);
  auto said = [](Http2Session& session) {
    std::string all;
    for (std::string_view piece = session.send(0); !piece.empty(); piece = session.send(0)) all += piece;
    return all;
  };
  ResponseHead head;
  const std::string answer = "HTTP/1.1 204 No Content\r\nx-own: no\r\n\r\n";
  ASSERT_EQ(parse_response_head(answer, head), Parsed::complete);
  for (const std::string& bytes : {std::string(kHttp2Preface) + std::string(kSettings), first, again}) {
    const size_t before = events.ids.size();
    for (auto [session, seen] : {std::pair(&resting, &events), std::pair(&awake, &other_events)}) {
      EXPECT_TRUE(session->receive(bytes, 0));
      if (seen->ids.size() > before) session->answer(seen->ids.back(), head, {}, false);
    }
    EXPECT_EQ(said(resting), said(awake));
    resting.rest();
    resting.rest();
  }
  EXPECT_EQ(events.heads, other_events.heads);
  ASSERT_EQ(events.heads.size(), 2U);
  EXPECT_EQ(events.heads[1], "GET / HTTP/1.1\r\nhost: shop.example\r\nx-own: yes\r\n\r\n");
  EXPECT_FALSE(resting.has_ended());
  resting.rest();
  resting.end();
  EXPECT_NE(said(resting), "");
}

TEST(Http2Session, DoesNotRestWithSomethingToSay) {
  TestingEvents events;
  Http2Counts counts;
  SessionPages pages;
  Http2Session session(events, counts, pages);
  session.rest();
  EXPECT_FALSE(session.send(0).empty()) << "its settings";
}

TEST(Http2Session, AllowanceComesBackWithTime) {
  Allowance allowance(3, 10);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(allowance.take(1'000));
  EXPECT_FALSE(allowance.take(1'000));
  EXPECT_FALSE(allowance.take(1'050)) << "half of one";
  EXPECT_TRUE(allowance.take(1'300));
}

}  // namespace http2_session_test
}  // namespace sluice::router
