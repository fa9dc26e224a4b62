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
  Http2Session session(events, counts);
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
  Http2Session session(events, counts);
  EXPECT_FALSE(session.receive("GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n", 0));
  EXPECT_TRUE(session.has_ended());
  EXPECT_TRUE(events.heads.empty());
}

TEST(Http2Session, AStreamThatIsResetIsNotToldOfAgain) {
  TestingEvents events;
  Http2Counts counts;
  Http2Session session(events, counts);
  session.receive(std::string(kHttp2Preface) + std::string(kSettings) + std::string(kRequest), 0);
  session.reset(events.ids[0], 8);
  while (!session.send(0).empty()) {
  }
  EXPECT_EQ(events.ended, 0);
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
