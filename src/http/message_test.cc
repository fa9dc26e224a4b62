// Targets, headers and heads.
#include "http/message.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace message_test {

Request targeted(const std::string& target) {
  Request request{.method = "GET", .target = target};
  auto done = take_target_apart(request);
  EXPECT_TRUE(done) << to_string(done.error());
  return request;
}

std::string refused(const std::string& target) {
  Request request{.method = "GET", .target = target};
  auto done = take_target_apart(request);
  return done ? "taken" : done.error().message;
}

TEST(Message, TakesTargetsApart) {
  Request request = targeted("/v1/flows/a%2Fb?limit=5&since=%C3%A4&failed");
  EXPECT_EQ(request.path, (std::vector<std::string>{"v1", "flows", "a/b"}));
  EXPECT_EQ(request.query, (Query{{"limit", "5"}, {"since", "ä"}, {"failed", ""}}));
  EXPECT_EQ(*request.parameter("limit"), "5");
  EXPECT_EQ(request.parameter("Limit"), nullptr);
  EXPECT_TRUE(targeted("/").path.empty());
  EXPECT_EQ(targeted("/a/?b").path, (std::vector<std::string>{"a", ""}));
  EXPECT_TRUE(targeted("/a?").query.empty());
  EXPECT_EQ(targeted(std::string("/a?k=%00%ff")).query[0].second, std::string("\0\xff", 2));
}

TEST(Message, RefusesTargetsThatCouldBeReadInTwoWays) {
  EXPECT_EQ(refused("v1"), "the target must be a path that begins with a slash");
  EXPECT_EQ(refused("http://h/v1"), "the target must be a path that begins with a slash");
  EXPECT_EQ(refused("*"), "the target must be a path that begins with a slash");
  EXPECT_EQ(refused("/v1#x"), "the target has a fragment, which is not sent");
  for (const char* target : {"//", "/a//", "//a", "/a//b", "/a/../b", "/a/..", "/./a", "/%2e%2E/a"}) {
    EXPECT_EQ(refused(target), "the target has a segment that is empty, . or ..") << target;
  }
  for (const char* target : {"/%", "/%4", "/%g0", "/a?b=%4", "/a?%z=1"}) {
    EXPECT_EQ(refused(target), "the target has a percent sign without two hexadecimal digits") << target;
  }
  EXPECT_EQ(refused("/a?b=1&b=2"), "the target has the parameter b twice");
  EXPECT_EQ(refused("/a?=1"), "the target has a parameter without a name");
}

TEST(Message, WritesTargetsThatReadBack) {
  const std::string bytes("a b/%?&=\0\xfe", 10);
  Request request = targeted(target_of({"v1", bytes}, {{"k", bytes}, {bytes, ""}}));
  EXPECT_EQ(request.path, (std::vector<std::string>{"v1", bytes}));
  EXPECT_EQ(request.query, (Query{{"k", bytes}, {bytes, ""}}));
  EXPECT_EQ(target_of({"a b"}, {{"c", "d&"}}), "/a%20b?c=d%26");
}

TEST(Message, FindsHeadersWhateverTheirCase) {
  Request request{.headers = {{"If-Match", "7"}, {"if-match", "8"}}};
  EXPECT_EQ(*request.header("IF-MATCH"), "7");
  EXPECT_EQ(request.header("If-Match "), nullptr);
}

TEST(Message, WritesHeads) {
  EXPECT_EQ(head_of(Response{.status = 404, .headers = {{"ETag", "\"3\""}}, .body = "{}", .close = true}),
            "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nETag: \"3\"\r\nConnection: close\r\n"
            "Content-Length: 2\r\n\r\n");
  EXPECT_EQ(head_of(Response{.content_type = "text/event-stream", .stream = [](Stream&) {}}),
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(head_of(Response{.status = 204}), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(head_of(Request{.method = "POST", .target = "/a", .headers = {{"Host", "x"}}, .body = "{}"}),
            "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(head_of(Request{.method = "GET", .target = "/a", .keep_alive = false}),
            "GET /a HTTP/1.1\r\nConnection: close\r\n\r\n");
}

}  // namespace message_test
}  // namespace sluice::http
