// Heads that pass, and heads that must not.
#include "router/http1/http1_parser.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::router {
namespace http1_parser_test {

std::string fault_of(const std::string& text) {
  RequestHead head;
  switch (parse_request_head(text, head)) {
    case Parsed::bad:
      return head.fault;
    case Parsed::incomplete:
      return "incomplete";
    case Parsed::complete:
      return "";
  }
  return "";
}

std::string with_lines(const std::string& lines) { return "GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n"; }

TEST(Http1Parser, TakesARequestApart) {
  std::string text =
      "\r\nPOST /a/b?c=d HTTP/1.1\r\nHost: Shop.Example.:8080\r\nContent-Length: 5\r\nX:  y \t\r\n\r\nhello";
  RequestHead head;
  ASSERT_EQ(parse_request_head(text, head), Parsed::complete);
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.target, "/a/b?c=d");
  EXPECT_EQ(head.path, "/a/b");
  EXPECT_EQ(head.host, "Shop.Example");
  EXPECT_EQ(head.authority, "Shop.Example.:8080");
  EXPECT_EQ(head.framing.length, 5U);
  EXPECT_EQ(head.size, text.size() - 5);
  EXPECT_EQ(head.headers.lines[2].value, "y");
}

TEST(Http1Parser, SaysTheSameHoweverMuchIsThere) {
  std::string text = with_lines("Cookie: a=b\r\nConnection: close\r\n");
  for (size_t size = 0; size < text.size(); ++size) EXPECT_EQ(fault_of(text.substr(0, size)), "incomplete") << size;
  EXPECT_EQ(fault_of(text), "");
}

TEST(Http1Parser, TakesAbsoluteTargets) {
  std::string text = "GET http://APP.example?b HTTP/1.1\r\nHost: app.example\r\n\r\n";
  RequestHead head;
  ASSERT_EQ(parse_request_head(text, head), Parsed::complete);
  EXPECT_TRUE(head.absolute && head.needs_slash);
  EXPECT_EQ(head.path, "/");
  EXPECT_EQ(head.target, "?b");
}

TEST(Http1Parser, RefusesWhatCanBeReadInTwoWays) {
  const std::pair<std::string, std::string> cases[] = {
      {with_lines("Content-Length: 1\r\nContent-Length: 1\r\n"), "several Content-Length lines"},
      {with_lines("Content-Length: 1, 1\r\n"), "a Content-Length that is no length"},
      {with_lines("Content-Length: +1\r\n"), "a Content-Length that is no length"},
      {with_lines("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), "Content-Length beside Transfer-Encoding"},
      {with_lines("Transfer-Encoding: gzip, chunked\r\n"), "a Transfer-Encoding other than chunked"},
      {with_lines("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), "several Transfer-Encoding lines"},
      {with_lines("Transfer-Encoding: xchunked\r\n"), "a Transfer-Encoding other than chunked"},
      {with_lines("X: a\r\n b\r\n"), "a folded line"},
      {with_lines("X : a\r\n"), "a header line without a name and a colon"},
      {with_lines("X: a\nY: b\r\n"), "a bare LF"},
      {with_lines("X: a\rY: b\r\n"), "a bare CR"},
      {with_lines(std::string("X: a\0b\r\n", 8)), "a control character in a header"},
      {with_lines("Host: b\r\n"), "several Host lines"},
      {"GET / HTTP/1.1\r\n\r\n", "no Host"},
      {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "a Host that is no host"},
      {"GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", "a Host that is no host"},
      {"GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", "a Host other than that of the target"},
      {"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "a target of another scheme"},
      {"CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", "CONNECT"},
      {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", "a target of * that is not of OPTIONS"},
      {"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", "a request line without a target"},
      {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", "a broken percent-encoding"},
      {"GET /a%00 HTTP/1.1\r\nHost: a\r\n\r\n", "an encoded NUL in the path"},
      {"GET /a/.%2E/b HTTP/1.1\r\nHost: a\r\n\r\n", "dots for a segment of the path"},
      {"GET /a/.. HTTP/1.1\r\nHost: a\r\n\r\n", "dots for a segment of the path"},
      {"GET / HTTP/1.2\r\nHost: a\r\n\r\n", "another version"},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", "another version"},
      {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "a request line without a target"},
      {"GET / HTTP/1.1\nHost: a\n\n", "a request line that does not end with CRLF"},
      {"\nGET / HTTP/1.1\r\n", "a request line without a method"},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding in HTTP/1.0"},
      {"GET /" + std::string(9'000, 'a'), "a target that is too long"},
      {with_lines("X: " + std::string(40'000, 'a')), "a head that is too large"},
  };
  for (const auto& [text, fault] : cases) EXPECT_EQ(fault_of(text), fault) << text.substr(0, 80);
}

TEST(Http1Parser, RefusesMoreThanAHundredLines) {
  std::string lines;
  for (int i = 0; i < 99; ++i) lines += "X: y\r\n";
  EXPECT_EQ(fault_of(with_lines(lines)), "");
  EXPECT_EQ(fault_of(with_lines(lines + "X: y\r\n")), "too many header lines");
}

TEST(Http1Parser, TakesWhatIsUnusualButClear) {
  for (const char* text :
       {"GET /a/.../b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /.well-known/x HTTP/1.1\r\nHost: a\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "M-SEARCH /?q=%zz HTTP/1.1\r\nHost: [::1]:80\r\nX:\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: \x80\xff\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\ntransfer-encoding:  CHUNKED \r\n\r\n"}) {
    EXPECT_EQ(fault_of(text), "") << text;
  }
}

TEST(Http1Parser, TakesAnAnswerApart) {
  ResponseHead head;
  std::string text = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  ASSERT_EQ(parse_response_head(text, head), Parsed::complete);
  EXPECT_EQ(head.status, 404);
  EXPECT_EQ(head.reason, "Not Found");
  EXPECT_TRUE(head.framing.has_length && head.framing.close);
  EXPECT_EQ(parse_response_head("HTTP/1.1 204\r\n\r\n", head), Parsed::complete);
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(parse_response_head(text.substr(0, size), head), Parsed::incomplete);
  }
  for (const char* wrong : {"HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 600 X\r\n\r\n\r\n", "HTTP/1.1 2000 X\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"}) {
    EXPECT_EQ(parse_response_head(wrong, head), Parsed::bad) << wrong;
  }
}

}  // namespace http1_parser_test
}  // namespace sluice::router
