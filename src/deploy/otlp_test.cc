// Messages of OTLP; tests/telemetry holds them against the official definitions.
#include "deploy/otlp.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/testing_rollouts.h"
#include "deploy/testing_router.h"
#include "router/counters.h"
#include "traffic.gen.h"

namespace sluice::deploy {
namespace otlp_test {

std::string line_with(const std::string& trace, const std::string& more = "") {
  return R"({"time":"2026-03-01T09:30:00.125Z","env_id":"local","deployment_id":"d1","bundle_id":"shop",)"
         R"("revision_id":"r2","reason":"weight","method":"GET","host":"shop.example","path":"/cart",)" +
         (more.empty() ? std::string(R"("status":200,)") : more) + R"("duration_us":125000,"trace":")" + trace + "\"}";
}

constexpr const char* kTrace = "4bf92f3577b34da6a380000000000000";

struct OtlpTest : testing::Test {
  void configure(double share, const std::string& bundle = "*") {
    telemetry::State(world.rows)
        .put(telemetry::TelemetryId("c-" + bundle),
             {.target = bundle, .endpoint = "http://" + bundle + ".example", .samplingRate = share});
  }
  json::value span_of(const std::string& line) {
    auto made = otlp_request_span(world, line);
    EXPECT_TRUE(made);
    return made ? made->span.at("scopeSpans").at(0).at("spans").at(0) : json::value();
  }
  // The value of an attribute; empty if there is none.
  static std::string attribute(const json::value& of, std::string_view key) {
    for (const json::value& each : of.at("attributes").as_array()) {
      if (each.at("key") != json::value(key)) continue;
      const json::object& value = each.at("value").as_object();
      return std::string(value.begin()->value().as_string());
    }
    return "";
  }

  TestingFolder folder;
  RealDisk disk;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  TestingRouter router{folder.path(), "main", key.public_key()};
  RouterFleet fleet{disk, folder.path(), [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  RolloutRows world{router.control()};
};

TEST_F(OtlpTest, WhatRoutersCountedIsASumForEachRevision) {
  traffic::State(world.rows).put(traffic::TrafficId("d1"), {.generation = 1});
  json::array latencies(::sluice::router::kLatencyBuckets, 0);
  latencies[3] = 7;
  router.count_revisions({json::object{
      {"id", "r2"}, {"weight_bps", 5'000}, {"requests", 7}, {"failed", 2}, {"latency_counts", latencies}}});
  const json::array families = {json::object{
      {"name", "sluice_rollouts"},
      {"type", "gauge"},
      {"help", "Rollouts"},
      {"samples", json::array{json::object{{"labels", json::object{{"status", "running"}}}, {"value", 3}}}}}};
  const Measured measured = measure(world, families, fleet, 1'700'000'000'000);
  const json::value sent = otlp_metrics(measured, {.bundle = "*"});
  const json::array& all = sent.at("resourceMetrics").as_array();
  ASSERT_EQ(all.size(), 2U) << write(sent);
  const json::value& own = all[0].at("scopeMetrics").at(0).at("metrics").at(0);
  EXPECT_EQ(own.at("name"), json::value("sluice_rollouts"));
  EXPECT_EQ(own.at("gauge").at("dataPoints").at(0).at("asDouble"), json::value(3.0));
  EXPECT_EQ(own.at("gauge").at("dataPoints").at(0).at("timeUnixNano"), json::value("1700000000000000000"));
  const json::array& counted = all[1].at("scopeMetrics").at(0).at("metrics").as_array();
  EXPECT_EQ(counted[0].at("sum").at("dataPoints").at(0).at("asDouble"), json::value(7.0));
  EXPECT_EQ(counted[1].at("sum").at("dataPoints").at(0).at("asDouble"), json::value(2.0));
  const json::value& histogram = counted[2].at("histogram").at("dataPoints").at(0);
  EXPECT_EQ(histogram.at("count"), json::value("7"));
  EXPECT_EQ(histogram.at("bucketCounts").at(3), json::value("7"));
  EXPECT_EQ(histogram.at("bucketCounts").as_array().size(), histogram.at("explicitBounds").as_array().size() + 1);
  EXPECT_EQ(attribute(all[1].at("resource"), "service.name"), "shop");
}

TEST_F(OtlpTest, AnEndpointGetsTheMetricsThatItIsConfiguredFor) {
  traffic::State(world.rows).put(traffic::TrafficId("d1"), {.generation = 1});
  router.count_revisions({json::object{{"id", "r2"},
                                       {"weight_bps", 5'000},
                                       {"requests", 7},
                                       {"failed", 0},
                                       {"latency_counts", json::array(::sluice::router::kLatencyBuckets, 0)}}});
  auto sample = [](const char* environment) {
    return json::object{{"labels", json::object{{"environment", environment}}}, {"value", 1}};
  };
  const json::array families = {
      json::object{{"name", "sluice_deployments"},
                   {"help", "Deployments"},
                   {"samples", json::array{sample("local"), sample("prod")}}},
      json::object{{"name", "sluice_journal_steps_total"},
                   {"help", "Steps"},
                   {"samples", json::array{json::object{{"labels", json::object()}, {"value", 9}}}}}};
  const Measured measured = measure(world, families, fleet, 1'700'000'000'000);
  auto resources = [&](const views::OtlpEndpoint& to) {
    const json::object sent = otlp_metrics(measured, to);
    return sent.empty() ? json::array() : sent.at("resourceMetrics").as_array();
  };
  EXPECT_EQ(resources({.bundle = "*"}).size(), 2U);
  const json::array local = resources({.bundle = "*", .environment = "local"});
  ASSERT_EQ(local.size(), 2U);
  const json::array& own = local[0].at("scopeMetrics").at(0).at("metrics").as_array();
  ASSERT_EQ(own.size(), 1U) << "what belongs to no environment is for those that get all";
  const json::array& points = own[0].at("gauge").at("dataPoints").as_array();
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(attribute(points[0], "environment"), "local");
  const json::array prod = resources({.bundle = "*", .environment = "prod"});
  ASSERT_EQ(prod.size(), 1U) << "the revision is in local";
  EXPECT_EQ(attribute(prod[0].at("resource"), "service.name"), "sluice");
  const json::array shop = resources({.bundle = "shop", .service_name = "Shop", .service_namespace = "market"});
  ASSERT_EQ(shop.size(), 1U) << "a bundle's endpoint gets the bundle's alone";
  EXPECT_EQ(attribute(shop[0].at("resource"), "service.name"), "Shop");
  EXPECT_EQ(attribute(shop[0].at("resource"), "service.namespace"), "market");
  EXPECT_TRUE(resources({.bundle = "cart"}).empty());
}

TEST_F(OtlpTest, ARequestIsASpanOfItsTrace) {
  configure(1);
  const json::value one = span_of(line_with(kTrace));
  EXPECT_EQ(one.at("traceId"), json::value(kTrace));
  EXPECT_EQ(one.at("startTimeUnixNano"), json::value("1772357400000000000"));
  EXPECT_EQ(one.at("endTimeUnixNano"), json::value("1772357400125000000"));
  EXPECT_FALSE(one.as_object().contains("status"));
  EXPECT_EQ(span_of(line_with(kTrace, R"("status":503,)")).at("status").at("code"), json::value(2));
}

TEST_F(OtlpTest, ARequestHasTheIdsOfWhomItWasFor) {
  configure(1);
  const json::value one = span_of(line_with(
      kTrace, R"("status":200,"tenant":"eu","team":"web","customer_id":"acme","generation":7,"pack_kind":"p@1",)"));
  EXPECT_EQ(attribute(one, "sluice.customer"), "acme");
  EXPECT_EQ(attribute(one, "sluice.tenant"), "eu");
  EXPECT_EQ(attribute(one, "sluice.team"), "web");
  EXPECT_EQ(attribute(one, "sluice.deployer"), "p@1");
  EXPECT_EQ(attribute(one, "sluice.generation"), "7");
  EXPECT_EQ(attribute(one, "http.response.status_code"), "200");
}

TEST_F(OtlpTest, IdsOfAnActionAreAttributes) {
  const json::array ids =
      otlp_ids({{"deployment", "d1"}, {"environment", "local"}, {"reason", "x"}, {"rollout", nullptr}});
  EXPECT_EQ(ids.size(), 2U);
  const json::value about = json::object{{"attributes", ids}};
  EXPECT_EQ(attribute(about, "sluice.deployment"), "d1");
  EXPECT_EQ(attribute(about, "deployment.environment.name"), "local");
}

TEST_F(OtlpTest, WithoutPropagationEachRequestIsATraceOfItsOwn) {
  telemetry::State(world.rows)
      .put(telemetry::TelemetryId("c"),
           {.target = "*", .endpoint = "http://otel.example", .samplingRate = 1, .propagation = "none"});
  auto trace_of = [&](const std::string& line) { return std::string(span_of(line).at("traceId").as_string()); };
  const std::string one = trace_of(line_with(kTrace));
  const std::string other = trace_of(line_with(kTrace, R"("status":503,)"));
  EXPECT_EQ(one.size(), 32U);
  EXPECT_NE(one, kTrace);
  EXPECT_NE(one, other);
}

TEST_F(OtlpTest, OneTraceIsSampledOrNotByItsIdAndTheBundlesShare) {
  EXPECT_FALSE(otlp_request_span(world, line_with(kTrace))) << "nothing is configured";
  configure(0.4);
  EXPECT_FALSE(otlp_request_span(world, line_with(kTrace)));
  configure(0.6, "shop");
  auto span = otlp_request_span(world, line_with(kTrace));
  ASSERT_TRUE(span) << "the bundle's own share counts";
  EXPECT_EQ(span->to.url, "http://shop.example") << "it goes where the program's spans go";
  EXPECT_FALSE(otlp_request_span(world, "no line"));
  EXPECT_FALSE(otlp_request_span(world, line_with("xyz")));
}

}  // namespace otlp_test
}  // namespace sluice::deploy
