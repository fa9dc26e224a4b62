// Reading requests and answers: whole, in pieces, and what is refused.
#include "http/parser.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace parser_test {

struct Read {
  std::string what;  // the method and target, or what was wrong
  int status = 0;    // of the refusal
  std::string left;
  Request request;
};

Read read(std::string bytes, const MessageLimits& limits = {}) {
  RequestParser parser(limits);
  auto complete = parser.take(bytes);
  if (!complete) return {complete.error().message, parser.status()};
  if (!*complete) return {"more"};
  auto request = parser.request();
  if (!request) return {request.error().message, parser.status()};
  return {request->method + " " + request->target, 0, bytes, *request};
}

TEST(Parser, ReadsARequestAndLeavesTheNext) {
  Read got = read("POST /v1/a?x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nIf-Match: 7\r\n\r\n{}GET / HTTP/1.1\r\n");
  EXPECT_EQ(got.what, "POST /v1/a?x=1");
  EXPECT_EQ(got.request.body, "{}");
  EXPECT_EQ(got.request.path, (std::vector<std::string>{"v1", "a"}));
  EXPECT_EQ(*got.request.header("if-match"), "7");
  EXPECT_TRUE(got.request.keep_alive);
  EXPECT_EQ(got.left, "GET / HTTP/1.1\r\n");
  EXPECT_FALSE(read("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").request.keep_alive);
}

TEST(Parser, ReadsARequestThatComesByteByByte) {
  const std::string head = "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const auto& [chunks, body] :
       {std::pair("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "abcde"), std::pair("0\r\n\r\n", "")}) {
    const std::string whole = head + chunks;
    RequestParser parser({});
    std::string input;
    for (size_t i = 0; i < whole.size(); ++i) {
      input += whole[i];
      auto complete = parser.take(input);
      ASSERT_TRUE(complete) << to_string(complete.error());
      EXPECT_EQ(*complete, i + 1 == whole.size()) << i;
    }
    auto request = parser.request();
    ASSERT_TRUE(request) << to_string(request.error());
    EXPECT_EQ(request->body, body);
    EXPECT_EQ(input, "");
  }
}

TEST(FirstWeek26, TwoEqualContentLengthsAreRefused) {
  Read got = read("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab");
  EXPECT_EQ(got.what, "a request has at most one Content-Length");
  EXPECT_EQ(got.status, 400);
  EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2, 2\r\n\r\nab").status, 400);
}

TEST(Parser, RefusesWhatIsAmbiguous) {
  for (const char* bytes : {
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -2\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2x\r\n\r\nab",
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n\r\n",
           "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
           "GET / HTTP/1.1\r\nHost : h\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\nA\x01: b\r\n\r\n",
           "GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n",
       }) {
    Read got = read(bytes);
    EXPECT_TRUE(got.what.starts_with("this is not HTTP/1.1 as it must be: ")) << bytes << ": " << got.what;
    EXPECT_EQ(got.status, 400) << bytes;
  }
  EXPECT_TRUE(read("GET / HTTP/1.1\nHost: h\n\n").what.starts_with("this is not HTTP/1.1 as it must be: "));
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n").what,
            "a header goes on in the next line, which is not allowed");
  EXPECT_EQ(read("GET / HTTP/1.1\r\n\r\n").what, "a request has exactly one Host");
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").what, "a request has exactly one Host");
  EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n").what,
            "the only Transfer-Encoding is chunked");
  EXPECT_EQ(read("GET /../x HTTP/1.1\r\nHost: h\r\n\r\n").what, "the target has a segment that is empty, . or ..");
}

TEST(Parser, SpeaksOneVersionOnly) {
  EXPECT_EQ(read("GET / HTTP/1.0\r\nHost: h\r\n\r\n").status, 505);
  EXPECT_EQ(read("GET / HTTP/2.0\r\nHost: h\r\n\r\n").status, 505);
}

TEST(Parser, KeepsToItsLimits) {
  MessageLimits limits{.head_bytes = 100, .body_bytes = 10};
  Read head = read("GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(100, 'a'), limits);
  EXPECT_EQ(head.what, "the head has more than 100 bytes");
  EXPECT_EQ(head.status, 431);
  Read body = read("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n", limits);
  EXPECT_EQ(body.what, "the body has more than 10 bytes");
  EXPECT_EQ(body.status, 413);
  Read chunks = read("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n", limits);
  EXPECT_EQ(chunks.status, 413) << chunks.what;
  Read huge = read("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551616\r\n\r\n", limits);
  EXPECT_EQ(huge.status, 400);
}

TEST(Parser, KnowsWhoWaitsToSendTheBody) {
  std::string bytes = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
  RequestParser parser({});
  EXPECT_FALSE(parser.take(bytes).value());
  EXPECT_TRUE(parser.has_head());
  EXPECT_TRUE(parser.expects_continue());
}

TEST(Parser, ReadsAnswers) {
  AnswerParser parser({});
  EXPECT_FALSE(parser.has_begun());
  std::string bytes = "HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\nETag: x\r\n\r\n{}";
  ASSERT_TRUE(parser.take(bytes).value());
  EXPECT_TRUE(parser.has_begun());
  Answer answer = parser.answer();
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.body, "{}");
  EXPECT_EQ(*answer.header("etag"), "x");
  EXPECT_TRUE(answer.keep_alive);
  AnswerParser other({});
  std::string nonsense = "HTTP/1.1 abc\r\n\r\n";
  EXPECT_FALSE(other.take(nonsense));
}

}  // namespace parser_test
}  // namespace sluice::http
