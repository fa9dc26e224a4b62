// Heads as they are passed on, line by line.
#include "router/http1/head_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::router {
namespace head_writer_test {

std::string passed_on(const std::string& text, Forwarding forwarding) {
  RequestHead head;
  EXPECT_EQ(parse_request_head(text, head), Parsed::complete) << head.fault;
  Buffers buffers;
  Buffer* out = buffers.take(request_head_room(head, forwarding));
  write_request_head(head, forwarding, *out);
  std::string written(out->view());
  buffers.give(out);
  return written;
}

const Forwarding kStranger{.peer = "192.0.2.7", .port = 80};

TEST(HeadWriter, ReplacesWhatAStrangerSaysOfItself) {
  EXPECT_EQ(passed_on("GET /a HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 1.1.1.1\r\nA: b\r\nX-Forwarded-Proto: https\r\n"
                      "Forwarded: for=1.1.1.1\r\nX-Sluice-Revision: r\r\nX-Sluice-Debug-Token: t\r\nC: d\r\n\r\n",
                      kStranger),
            "GET /a HTTP/1.1\r\nHost: h\r\nA: b\r\nC: d\r\nX-Forwarded-For: 192.0.2.7\r\nX-Real-IP: 192.0.2.7\r\n"
            "X-Forwarded-Proto: http\r\nX-Forwarded-Host: h\r\nX-Forwarded-Port: 80\r\nForwarded: "
            "for=192.0.2.7;host=\"h\";proto=http\r\n\r\n");
}

TEST(HeadWriter, AddsToWhatATrustedPeerSays) {
  Forwarding trusted = kStranger;
  trusted.trusted = true;
  trusted.peer = "2001:db8::1";
  EXPECT_EQ(passed_on("GET /a HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 1.1.1.1\r\nX-Forwarded-Proto: https\r\n"
                      "x-forwarded-for: 2.2.2.2\r\nForwarded: for=1.1.1.1\r\n\r\n",
                      trusted),
            "GET /a HTTP/1.1\r\nHost: h\r\nX-Forwarded-Proto: https\r\n"
            "X-Forwarded-For: 1.1.1.1, 2.2.2.2, 2001:db8::1\r\nX-Real-IP: 2001:db8::1\r\nX-Forwarded-Host: "
            "h\r\nX-Forwarded-Port: 80\r\n"
            "Forwarded: for=1.1.1.1, for=\"[2001:db8::1]\";host=\"h\";proto=http\r\n\r\n");
}

TEST(HeadWriter, RemovesWhatIsForTheRouterAlone) {
  std::string written = passed_on(
      "GET /a HTTP/1.1\r\nHost: h\r\nConnection: X-Hop, close, Content-Length, Host\r\nX-Hop: 1\r\nKeep-Alive: "
      "5\r\nTE: trailers\r\n"
      "Proxy-Connection: keep-alive\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nContent-Length: 3\r\n\r\n",
      kStranger);
  EXPECT_TRUE(written.starts_with("GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nX-Forwarded-For"));
}

TEST(HeadWriter, WritesAnAbsoluteTargetAsAPathAndAHost) {
  EXPECT_TRUE(passed_on("GET http://H:80?q HTTP/1.1\r\nHost: h:80\r\nA: b\r\n\r\n", kStranger)
                  .starts_with("GET /?q HTTP/1.1\r\nHost: h:80\r\nA: b\r\n"));
  EXPECT_TRUE(passed_on("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", kStranger)
                  .starts_with("GET / HTTP/1.1\r\nHost: \r\nX-Forwarded-For"));
}

TEST(FirstWeek20, AStrippedPrefixIsNotPassedOn) {
  Forwarding stripping = kStranger;
  stripping.strip = 4;
  auto target = [&](const std::string& asked) {
    std::string line = passed_on("GET " + asked + " HTTP/1.1\r\nHost: h\r\n\r\n", stripping);
    return line.substr(4, line.find(' ', 4) - 4);
  };
  EXPECT_EQ(target("/api/items?q=/api"), "/items?q=/api");
  EXPECT_EQ(target("/api"), "/");
  EXPECT_EQ(target("/api/"), "/");
  EXPECT_EQ(target("/api?q"), "/?q");
  EXPECT_EQ(target("http://h/api/x"), "/x");
  EXPECT_EQ(target("/api//other.example/x"), "/other.example/x") << "not the address of another host";
}

TEST(HeadWriter, BeginsATraceOrPassesItOn) {
  std::string given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  std::string text = "GET / HTTP/1.1\r\nHost: h\r\ntraceparent: " + given + "\r\nTraceState: a=b\r\n\r\n";
  RequestHead head;
  ASSERT_EQ(parse_request_head(text, head), Parsed::complete);
  EXPECT_EQ(trace_of(head), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_NE(passed_on(text, kStranger).find("traceparent: " + given + "\r\nTraceState: a=b\r\n"), std::string::npos);
  Forwarding begins = kStranger;
  begins.trace = "aaaabbbbccccddddaaaabbbbccccdddd";
  begins.span = "1111222233334444";
  std::string written = passed_on("GET / HTTP/1.1\r\nHost: h\r\ntraceparent: 00-x\r\nTraceState: a=b\r\n\r\n", begins);
  EXPECT_EQ(written.find("a=b"), std::string::npos) << "it is of another trace";
  EXPECT_EQ(written.find("00-x"), std::string::npos);
  EXPECT_NE(written.find("traceparent: 00-aaaabbbbccccddddaaaabbbbccccdddd-1111222233334444-01\r\n"),
            std::string::npos);
  for (const char* wrong : {"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x"}) {
    std::string bad = std::string("GET / HTTP/1.1\r\nHost: h\r\ntraceparent: ") + wrong + "\r\n\r\n";
    ASSERT_EQ(parse_request_head(bad, head), Parsed::complete);
    EXPECT_EQ(trace_of(head), "") << wrong;
  }
}

TEST(HeadWriter, WritesAnAnswersHead) {
  std::string text =
      "HTTP/1.0 200 Fine\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nSet-Cookie: a=b\r\nTransfer-Encoding: "
      "chunked\r\n"
      "Upgrade: x\r\n\r\n";
  ResponseHead head;
  text[7] = '1';
  ASSERT_EQ(parse_response_head(text, head), Parsed::complete);
  char out[1'000];
  Answering answering{.set_cookie = "Set-Cookie: c=d\r\n"};
  EXPECT_EQ(std::string(out, write_response_head(head, answering, out)),
            "HTTP/1.1 200 Fine\r\nSet-Cookie: a=b\r\nTransfer-Encoding: chunked\r\nSet-Cookie: c=d\r\n\r\n");
  EXPECT_EQ(std::string(out, write_response_head(head, {.old_client = true}, out)),
            "HTTP/1.1 200 Fine\r\nSet-Cookie: a=b\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(std::string(out, write_response_head(head, {.keep_alive = false}, out)),
            "HTTP/1.1 200 Fine\r\nSet-Cookie: a=b\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
}

TEST(FirstWeek26, NamesWithAnUnderscoreReachNoApplication) {
  Forwarding trusted = kStranger;
  trusted.trusted = true;
  for (const Forwarding& from : {kStranger, trusted}) {
    std::string written = passed_on(
        "GET /a HTTP/1.1\r\nHost: h\r\nX_Forwarded_For: 9.9.9.9\r\nX_Sluice_Tenant: evil\r\nA: b\r\n"
        "Transfer_Encoding: chunked\r\nContent_Length: 9\r\nX-Real_IP: 9.9.9.9\r\n\r\n",
        from);
    EXPECT_TRUE(written.starts_with("GET /a HTTP/1.1\r\nHost: h\r\nA: b\r\nX-Forwarded-For")) << written;
    EXPECT_EQ(written.find('_'), std::string::npos) << written;
  }
}

TEST(FirstWeek26, XRealIpIsReplacedAndKeptFromATrustedPeer) {
  std::string text = "GET /a HTTP/1.1\r\nHost: h\r\nX-Real-IP: 9.9.9.9\r\n\r\n";
  std::string written = passed_on(text, kStranger);
  EXPECT_NE(written.find("X-Real-IP: 192.0.2.7\r\n"), std::string::npos) << written;
  EXPECT_EQ(written.find("9.9.9.9"), std::string::npos) << written;
  Forwarding trusted = kStranger;
  trusted.trusted = true;
  written = passed_on(text, trusted);
  EXPECT_NE(written.find("X-Real-IP: 9.9.9.9\r\n"), std::string::npos) << written;
  EXPECT_EQ(written.find("X-Real-IP: 192.0.2.7\r\n"), std::string::npos) << written;
}

TEST(FirstWeek26, AnswersWithoutABodyHaveNoLength) {
  for (const char* status : {"103 Early Hints", "204 No Content", "101 Switching Protocols"}) {
    for (const char* line : {"Content-Length: 0\r\n", "Content-Length: 7\r\n", "Transfer-Encoding: chunked\r\n"}) {
      std::string text = std::string("HTTP/1.1 ") + status + "\r\nA: b\r\n" + line + "C: d\r\n\r\n";
      ResponseHead head;
      ASSERT_EQ(parse_response_head(text, head), Parsed::complete);
      char out[1'000];
      EXPECT_EQ(std::string(out, write_response_head(head, {}, out)),
                std::string("HTTP/1.1 ") + status + "\r\nA: b\r\nC: d\r\n\r\n");
    }
  }
}

}  // namespace head_writer_test
}  // namespace sluice::router
