// What is different about requests that come over TLS, and those that should.
#include <gtest/gtest.h>

#include "crypto/x509.h"
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

  std::string_view client_rule() const override { return rule; }
  std::string_view client_id() const override { return id; }

  bool established = true;
  std::string rule;
  std::string id;
};

std::string authority() {
  return crypto::make_certificate({.name = "clients", .is_ca = true, .until_ms = 86'400'000}, nullptr, 0)->chain_pem;
}

DeploymentDocument for_clients(ClientCertificate client, std::vector<std::string> callers = {}) {
  static const std::string pem = authority();
  DeploymentDocument deployment = testing_deployment();
  deployment.tls = TlsDocument{.client = client, .client_ca = pem};
  if (!callers.empty()) deployment.tls->trusted_callers = std::move(callers);
  return deployment;
}

std::string rule_of(const TestingProxy& proxy) { return (*proxy.table->named("d1"))->client_rule->stamp(); }

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

TEST(ProxyTls, AConnectionByAnotherRuleIsMisdirected) {
  TestingProxy proxy(testing_table({for_clients(ClientCertificate::required)}));
  TestingSecured secured;
  int client = proxy.connect("192.0.2.7:40000", &secured);
  for (const std::string& rule : {std::string(), std::string("another")}) {
    secured.rule = rule;
    proxy.send(client, kGet);
    EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 421 Misdirected Request\r\n"));
  }
  EXPECT_EQ(proxy.upstreams(), 0U);
  secured.rule = rule_of(proxy);
  proxy.send(client, kGet);
  ASSERT_EQ(proxy.upstreams(), 1U);

  proxy.load(testing_table({testing_deployment()}));
  proxy.send(proxy.upstream(0), kOk);
  proxy.taken(client);
  proxy.send(client, kGet);
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 421 ")) << "it has another rule by now";
}

TEST(ProxyTls, WhatIsForClientsWithACertificateIsNotForTheClear) {
  TestingProxy proxy(testing_table({for_clients(ClientCertificate::required)}));
  int client = proxy.connect();
  proxy.send(client, kGet);
  std::string answer = proxy.taken(client);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 Forbidden\r\n")) << answer;
  EXPECT_NE(answer.find("the deployment is for clients that show a certificate, over TLS"), std::string::npos);

  DeploymentDocument redirected = for_clients(ClientCertificate::required);
  redirected.tls->redirect = true;
  proxy.load(testing_table({redirected}));
  proxy.send(client, kGet);
  EXPECT_TRUE(proxy.taken(client).starts_with("HTTP/1.1 308 "));
  EXPECT_EQ(proxy.upstreams(), 0U);

  proxy.load(testing_table({for_clients(ClientCertificate::wanted)}));
  proxy.send(client, kGet);
  ASSERT_EQ(proxy.upstreams(), 1U);
}

TEST(ProxyTls, TheApplicationLearnsWhoseCertificateItWas) {
  TestingProxy proxy(testing_table({for_clients(ClientCertificate::wanted)}));
  TestingSecured secured;
  secured.rule = rule_of(proxy);
  secured.id = "spiffe://shop.example/web";
  const std::string lie = "GET / HTTP/1.1\r\nHost: shop.example\r\nX-Sluice-Client-Id: CN=admin\r\n\r\n";
  int client = proxy.connect("192.0.2.7:40000", &secured);
  proxy.send(client, lie);
  std::string head = proxy.taken(proxy.upstream(0));
  EXPECT_NE(head.find("\r\nX-Sluice-Client-Id: spiffe://shop.example/web\r\n"), std::string::npos) << head;
  EXPECT_EQ(head.find("admin"), std::string::npos) << head;
  secured.id.clear();
  proxy.send(proxy.upstream(0), kOk);
  proxy.send(client, lie);
  head = proxy.taken(proxy.upstream(0));
  EXPECT_TRUE(head.starts_with("GET / ")) << head;
  EXPECT_EQ(head.find("X-Sluice-Client-Id"), std::string::npos) << head;
}

TEST(ProxyTls, ATrustedCallerSaysWhichRevision) {
  DeploymentDocument deployment = for_clients(ClientCertificate::wanted, {"spiffe://shop.example/tester"});
  deployment.revisions.push_back({.id = "r0", .weight_bps = 0, .replicas = {{"tcp:10.0.0.2:80"}}});
  TestingProxy proxy(testing_table({deployment}));
  TestingSecured secured;
  secured.rule = rule_of(proxy);
  secured.id = "spiffe://shop.example/tester";
  int client = proxy.connect("192.0.2.7:40000", &secured);
  auto ask = [&](const std::string& which, const std::string& revision) {
    proxy.send(client,
               "GET / HTTP/1.1\r\nHost: shop.example\r\n" + which + "X-Sluice-Revision: " + revision + "\r\n\r\n");
  };
  ask("X-Sluice-Deployment: d1\r\n", "r0");
  ASSERT_EQ(proxy.upstreams(), 1U);
  EXPECT_EQ(proxy.wire.at(proxy.upstream(0)).to, "10.0.0.2:80");
  proxy.send(proxy.upstream(0), kOk);
  const std::string answer = proxy.taken(client);
  EXPECT_NE(answer.find("\r\nX-Sluice-Deployment: d1\r\nX-Sluice-Revision: r0\r\n"), std::string::npos) << answer;
  const std::pair<const char*, const char*> refused[] = {
      {"", "X-Sluice-Revision needs X-Sluice-Deployment beside it"},
      {"X-Sluice-Deployment: d2\r\n", "the deployment of this host and path is another than X-Sluice-Deployment"},
  };
  for (const auto& [which, why] : refused) {
    ask(which, "r0");
    const std::string told = proxy.taken(client);
    EXPECT_TRUE(told.starts_with("HTTP/1.1 403 ")) << told;
    EXPECT_NE(told.find(why), std::string::npos) << told;
  }
  ask("X-Sluice-Deployment: d1\r\n", "r9");
  EXPECT_NE(proxy.taken(client).find("the deployment has no such revision that runs"), std::string::npos);
  secured.id = "spiffe://shop.example/web";
  ask("X-Sluice-Deployment: d1\r\n", "r0");
  ASSERT_EQ(proxy.upstreams(), 2U) << "of others it is passed over";
  EXPECT_EQ(proxy.wire.at(proxy.upstream(1)).to, "10.0.0.1:80");
}

}  // namespace proxy_tls_test
}  // namespace sluice::router
