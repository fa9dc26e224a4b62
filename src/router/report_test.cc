// Shares of latencies, and metrics as Prometheus reads them.
#include "router/report.h"

#include <gtest/gtest.h>

#include "router/testing_proxy.h"
#include "router/testing_router.h"

namespace sluice::router {
namespace report_test {

TEST(Report, FindsWhereAShareOfTheLatenciesLies) {
  Counts counts;
  EXPECT_EQ(latency_at(counts, 0.5), 0U);
  counts.latencies[latency_bucket(100)] = 98;   // 50 to 100
  counts.latencies[latency_bucket(1'000)] = 2;  // 750 to 1000
  EXPECT_EQ(latency_at(counts, 0.49), 75U);
  EXPECT_EQ(latency_at(counts, 0.99), 875U);
}

TEST(Report, WritesMetricsWithFewLabels) {
  TableDocument table = testing_table({testing_deployment()});
  table.deployments[0].revisions[0].replicas = {{"tcp:127.0.0.1:1"}};
  TestingRouter router(&table);
  router.fetch("GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n");
  router.fetch("NONSENSE\r\n\r\n");
  std::string text = TestingRouter::fetch_at(router.admin, "GET /metrics HTTP/1.1\r\n\r\n");
  std::string labels = "{environment=\"test\",deployment=\"d1\",revision=\"r1\"";
  EXPECT_NE(text.find("sluice_router_requests_total" + labels + ",class=\"5xx\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("sluice_router_request_duration_seconds_bucket" + labels + ",le=\"+Inf\"} 1\n"),
            std::string::npos);
  EXPECT_NE(text.find("sluice_router_upstream_failures_total" + labels + "} 3\n"), std::string::npos);
  EXPECT_NE(text.find("sluice_router_refused_total{environment=\"test\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("sluice_router_generation{environment=\"test\"} 1\n"), std::string::npos);
}

}  // namespace report_test
}  // namespace sluice::router
