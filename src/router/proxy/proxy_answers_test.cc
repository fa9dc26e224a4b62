// What is counted and logged of a request, whoever answered it.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "crypto/base64.h"
#include "router/debug_token.h"
#include "router/testing_proxy.h"

namespace sluice::router {
namespace proxy_answers_test {

TEST(ProxyAnswers, TellAStrangerNothingButTheStatusAndTheRequest) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  proxy.wire.refusing = {"10.0.0.1:80"};
  int client = proxy.connect();
  proxy.send(client,
             "GET /secret HTTP/1.1\r\nHost: shop.example\r\nAccept: text/html,*/*\r\n"
             "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n\r\n");
  std::string page = proxy.taken(client);
  EXPECT_TRUE(
      page.ends_with("<!doctype html><title>502 Bad Gateway</title><h1>502 Bad Gateway</h1>"
                     "<p>Request 4bf92f3577b34da6a3ce929d0e0e4736</p>\n"));
  std::string line = proxy.log_text();
  EXPECT_NE(line.find("\"deployment_id\":\"d1\",\"bundle_id\":\"shop\",\"revision_id\":\"r1\""), std::string::npos);
  EXPECT_NE(
      line.find(
          "\"reason\":\"weight\",\"method\":\"GET\",\"host\":\"shop.example\",\"path\":\"/secret\",\"status\":502"),
      std::string::npos);
  EXPECT_NE(line.find("\"peer\":\"192.0.2.7\",\"trace\":\"4bf92f3577b34da6a3ce929d0e0e4736\""), std::string::npos);
}

TEST(ProxyAnswers, OfEveryRefusalHaveANumberUnderWhichTheLogSaysWhy) {
  const std::string host = " HTTP/1.1\r\nHost: shop.example\r\n";
  const std::string chunked = "POST /" + host + "Transfer-Encoding: chunked\r\n\r\n";
  struct Case {
    std::string first, then;
    int64_t waits_ms;
    int status;
    const char* why;
  };
  const Case cases[] = {
      {"GET /%zz" + host + "\r\n", "", 0, 400, "a broken percent-encoding"},
      {"GET /" + host, "", 10'000, 408, "the head did not come in time"},
      {chunked + "x\r\n", "", 0, 400, "a bad chunk"},
      {chunked, "x\r\n", 0, 400, "a bad chunk"},
      {chunked, "", 60'000, 408, "the body did not come in time"},
      {"GET /" + host + "Expect: more\r\n\r\n", "", 0, 417, "an expectation other than 100-continue"},
      {"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "", 0, 404, "no deployment has such a route"},
  };
  TestingProxy proxy(testing_table({testing_deployment()}));
  for (const Case& each : cases) {
    SCOPED_TRACE(each.first + each.then);
    int client = proxy.connect();
    proxy.send(client, each.first);
    if (!each.then.empty()) proxy.send(client, each.then);
    if (each.waits_ms > 0) proxy.advance_ms(each.waits_ms + 1'000);
    const std::string page = proxy.taken(client);
    auto logged = parse_json(proxy.log_text());
    ASSERT_TRUE(logged) << page;
    const json::value& line = logged->root;
    EXPECT_EQ(line.at("status"), json::value(each.status));
    EXPECT_EQ(line.at("error"), json::value(each.why));
    EXPECT_EQ(line.at("trace").as_string().size(), 32U);
    EXPECT_TRUE(page.ends_with(", request " + std::string(line.at("trace").as_string()) + "\n")) << page;
  }
}

TEST(ProxyAnswers, LogTenRefusalsASecondAndNoneOfAnUpstream) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  auto lines = [&] { return std::ranges::count(proxy.log_text(), '\n'); };
  auto refuse = [&](int times) {
    for (int i = 0; i < times; ++i)
      proxy.send(proxy.connect(), i % 2 == 0 ? "NONSENSE\r\n\r\n" : "GET / HTTP/1.0\r\n\r\n");
  };
  refuse(25);
  EXPECT_EQ(lines(), 10);
  proxy.advance_ms(1'000);
  refuse(4);
  EXPECT_EQ(lines(), 4);
  proxy.send(proxy.connect(), "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n");
  proxy.send(proxy.upstream(0), "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(lines(), 0);
}

TEST(ProxyAnswers, CountRequestsBytesAndClassesOnce) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  std::string request = "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n";
  std::string answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno\n";
  for (int i = 0; i < 3; ++i) {
    proxy.send(client, request);
    proxy.advance_ms(100);
    proxy.send(proxy.upstream(0), answer);
  }
  Counts counts = proxy.counts("d1", "r1");
  EXPECT_EQ(counts.requests, 3U);
  EXPECT_EQ(counts.bytes_in, 3 * request.size());
  EXPECT_EQ(counts.bytes_out, 3 * answer.size());
  EXPECT_EQ(counts.classes[3], 3U);
  EXPECT_EQ(counts.latency_us, 300'000U);
  EXPECT_EQ(counts.latencies[latency_bucket(100'000)], 3U);
}

TEST(ProxyAnswers, LogEveryRequestIfTheTableSaysSo) {
  TableDocument table = testing_table({testing_deployment()});
  table.access_log_bps = 10'000;
  TestingProxy proxy(table);
  int client = proxy.connect();
  proxy.send(client, "GET /a?b HTTP/1.1\r\nHost: shop.example\r\n\r\n");
  proxy.send(proxy.upstream(0), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_NE(proxy.log_text().find("\"path\":\"/a\",\"status\":204"), std::string::npos);
  table.access_log_bps = 0;
  proxy.load(table);
  proxy.send(client, "GET /a?b HTTP/1.1\r\nHost: shop.example\r\n\r\n");
  proxy.send(proxy.upstream(0), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(proxy.log_text(), "");
}

TEST(ProxyAnswers, SayWhichDeploymentIsPausedOrHasNobody) {
  DeploymentDocument deployment = testing_deployment();
  deployment.customer = "acme";
  deployment.generation = 9;
  deployment.status = DeploymentStatus::paused;
  const std::string request = "GET /a HTTP/1.1\r\nHost: shop.example\r\n\r\n";
  TestingProxy proxy(testing_table({deployment}));
  int client = proxy.connect();
  proxy.send(client, request);
  auto logged = [&](const char* why) {
    const json::value line = parse_json(proxy.log_text()).value().root;
    EXPECT_EQ(line.at("deployment_id"), json::value(deployment.id));
    EXPECT_EQ(line.at("customer_id"), json::value("acme"));
    EXPECT_EQ(line.at("generation"), json::value(9));
    EXPECT_EQ(line.at("revision_id"), json::value(""));
    EXPECT_EQ(line.at("error"), json::value(why));
  };
  logged("the deployment is paused");
  deployment.status = DeploymentStatus::active;
  for (RevisionDocument& each : deployment.revisions) each.weight_bps = 0;
  TableDocument table = testing_table({deployment});
  table.generation = 2;
  proxy.load(table);
  proxy.send(client, request);
  logged("no revision of the deployment has weight");
}

TEST(ProxyAnswers, GiveACookieOnceAndTakeItBack) {
  DeploymentDocument deployment = testing_deployment();
  deployment.stickiness.mode = StickyMode::session;
  deployment.revisions = {{.id = "r2", .weight_bps = 5'000, .replicas = {{"tcp:10.0.0.2:80"}}},
                          {.id = "r1", .weight_bps = 5'000, .replicas = {{"tcp:10.0.0.1:80"}}}};
  TableDocument table = testing_table({deployment});
  table.cookie_keys = {{"k1", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}};
  TestingProxy proxy(table);
  int client = proxy.connect();
  proxy.send(client, "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n");
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  std::string answer = proxy.taken(client);
  size_t at = answer.find("Set-Cookie: ");
  ASSERT_NE(at, std::string::npos);
  std::string cookie = answer.substr(at + 12, answer.find(';', at) - at - 12);
  for (int i = 0; i < 100; ++i) {
    proxy.send(client, "GET / HTTP/1.1\r\nHost: shop.example\r\nCookie: a=b; " + cookie + "\r\n\r\n");
    proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(proxy.taken(client), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  }
  EXPECT_EQ(proxy.upstreams(), 1U);
}

struct Trusted : TestingProxy {
  explicit Trusted(const crypto::PrivateKey& key = crypto::PrivateKey::generate()) : TestingProxy(table(key)) {
    pin =
        "GET / HTTP/1.1\r\nHost: shop.example\r\nX-Sluice-Deployment: d1\r\nX-Sluice-Revision: r1\r\n"
        "X-Sluice-Debug-Token: ";
    token = write_debug_token({"test", "d1", "r1", 1'700'000'060}, key);
    client = connect();
  }
  static TableDocument table(const crypto::PrivateKey& key) {
    TableDocument made = testing_table({testing_deployment()});
    made.debug_keys = {crypto::to_base64(key.public_key().raw())};
    return made;
  }
  std::string pin, token;
  int client = -1;
};

TEST(FirstWeek14, EveryAnswerToATrustedCallerNamesDeploymentAndRevision) {
  Trusted proxy;
  proxy.send(proxy.client, proxy.pin + proxy.token + "\r\n\r\n");
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nX-Sluice-Revision: r9\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(proxy.taken(proxy.client),
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Sluice-Deployment: d1\r\nX-Sluice-Revision: r1\r\n\r\nhi");
  proxy.send(proxy.client, proxy.pin + proxy.token + "\r\n\r\n");
  proxy.send(proxy.upstream(0), "garbage");
  std::string answer = proxy.taken(proxy.client);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n")) << answer;
  EXPECT_NE(answer.find("X-Sluice-Deployment: d1\r\nX-Sluice-Revision: r1\r\n"), std::string::npos) << answer;
  proxy.send(proxy.client, "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n");
  proxy.send(proxy.wire.connected.back(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(proxy.taken(proxy.client), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
}

TEST(FirstWeek14, TokenThatDoesNotHoldGets403WithTheReason) {
  Trusted proxy;
  proxy.send(proxy.client, proxy.pin + proxy.token + "x\r\n\r\n");
  std::string answer = proxy.taken(proxy.client);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 Forbidden\r\n")) << answer;
  EXPECT_NE(answer.find(": the debug token is not "), std::string::npos) << answer;
  EXPECT_EQ(proxy.upstreams(), 0U);
  EXPECT_NE(proxy.log_text().find("the debug token is not "), std::string::npos);
}

}  // namespace proxy_answers_test
}  // namespace sluice::router
