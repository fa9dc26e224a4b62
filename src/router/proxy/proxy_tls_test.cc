// What is different about requests that come over TLS, and those that should.
#include <gtest/gtest.h>

#include "router/testing_proxy.h"

namespace sluice::router {
namespace proxy_tls_test {

constexpr const char* kGet = "GET /cart?x=1 HTTP/1.1\r\nHost: shop.example\r\n\r\n";
constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

class TestingSecured final : public Secured {
 public:
  bool is_established() const override { return established; }
  bool is_http2() const override { return false; }
  std::string_view version() const override { return "TLSv1.3"; }
  std::string_view name() const override { return "shop.example"; }
  bool covers(std::string_view host) const override { return host == "shop.example"; }

  bool established = true;
};

TEST(ProxyTls, TheApplicationLearnsOfIt) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingSecured secured;
  int client = proxy.connect("192.0.2.7:40000", &secured);
  proxy.send(client, kGet);
  const std::string head = proxy.taken(proxy.upstream(0));
  EXPECT_NE(head.find("\r\nX-Forwarded-Proto: https\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find(";proto=https\r\n"), std::string::npos) << head;
}

TEST(ProxyTls, AnotherHostThanTheCertificatesIsMisdirected) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingSecured secured;
  int client = proxy.connect("192.0.2.7:40000", &secured);
  proxy.send(client, "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n");
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 421 Misdirected Request\r\n"));
  EXPECT_EQ(proxy.upstreams(), 0U);
  proxy.send(client, kGet);
  EXPECT_EQ(proxy.upstreams(), 1U) << "the connection is as good as before";
}

TEST(ProxyTls, RequestsInTheClearAreRedirected) {
  DeploymentDocument deployment = testing_deployment();
  deployment.tls = TlsDocument{.redirect = true, .hsts_s = 60};
  deployment.status = DeploymentStatus::paused;
  TestingProxy proxy(testing_table({deployment}));
  int client = proxy.connect();
  proxy.send(client, kGet);
  std::string answer = proxy.taken(client);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 308 Permanent Redirect\r\n")) << answer;
  EXPECT_NE(answer.find("\r\nLocation: https://shop.example/cart?x=1\r\n"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("Strict-Transport-Security"), std::string::npos) << "it would not count in the clear";
  EXPECT_EQ(answer.find("Retry-After"), std::string::npos);
  proxy.proxy->redirect_to(8443);
  proxy.send(client, kGet);
  EXPECT_NE(proxy.taken(client).find("\r\nLocation: https://shop.example:8443/cart?x=1\r\n"), std::string::npos);
}

TEST(ProxyTls, WhoTookTheTlsAwayIsBelievedIfTrusted) {
  DeploymentDocument deployment = testing_deployment();
  deployment.tls = TlsDocument{.redirect = true};
  TableDocument table = testing_table({deployment});
  table.trusted_proxies = {"10.9.0.0/16"};
  TestingProxy proxy(table);
  constexpr const char* kTaken = "GET / HTTP/1.1\r\nHost: shop.example\r\nX-Forwarded-Proto: https\r\n\r\n";
  int stranger = proxy.connect(), trusted = proxy.connect("10.9.0.1:40000");
  proxy.send(stranger, kTaken);
  EXPECT_TRUE(proxy.taken(stranger).starts_with("HTTP/1.1 308 "));
  proxy.send(trusted, kTaken);
  EXPECT_EQ(proxy.upstreams(), 1U);
}

TEST(ProxyTls, AnswersSayThatTlsIsToStay) {
  DeploymentDocument deployment = testing_deployment();
  deployment.tls = TlsDocument{.redirect = true, .hsts_s = 31'536'000};
  TestingProxy proxy(testing_table({deployment}));
  TestingSecured secured;
  int client = proxy.connect("192.0.2.7:40000", &secured);
  proxy.send(client, kGet);
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(proxy.taken(client),
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nStrict-Transport-Security: max-age=31536000\r\n\r\nhi");
  proxy.send(client, kGet);
  proxy.send(proxy.upstream(0),
             "HTTP/1.1 200 OK\r\nstrict-transport-security: max-age=1\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(proxy.taken(client),
            "HTTP/1.1 200 OK\r\nstrict-transport-security: max-age=1\r\nContent-Length: 2\r\n\r\nhi");
  proxy.send(client, kGet);
  proxy.end(proxy.upstream(0));
  proxy.end(proxy.upstream(1));
  std::string answer = proxy.taken(client);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 502 ")) << answer;
  EXPECT_NE(answer.find("\r\nStrict-Transport-Security: max-age=31536000\r\n"), std::string::npos) << answer;
}

TEST(ProxyTls, AHandshakeHasTenSeconds) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingSecured slow, settled;
  slow.established = false;
  int one = proxy.connect("192.0.2.7:40000", &slow), other = proxy.connect("192.0.2.7:40001", &settled);
  proxy.advance_ms(10'300);
  EXPECT_TRUE(proxy.is_closed(one));
  EXPECT_FALSE(proxy.is_closed(other)) << "it has as long as any other that waits";
}

TEST(ProxyTls, TheLogSaysHowItCame) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  TestingSecured secured;
  int client = proxy.connect("192.0.2.7:40000", &secured);
  proxy.send(client, "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n");
  const std::string log = proxy.log_text();
  EXPECT_NE(log.find("\"protocol\":\"HTTP/1.1\",\"tls_version\":\"TLSv1.3\",\"sni\":\"shop.example\""),
            std::string::npos)
      << log;
}

}  // namespace proxy_tls_test
}  // namespace sluice::router
