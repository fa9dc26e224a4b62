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
             {.target = bundle, .endpoint = "http://otel.example", .samplingRate = share});
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
  const json::value sent = otlp_metrics(world, families, fleet, 1'700'000'000'000);
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
}

TEST_F(OtlpTest, ARequestIsASpanOfItsTrace) {
  configure(1);
  auto span = otlp_request_span(world, line_with(kTrace));
  ASSERT_TRUE(span);
  const json::value& one = span->at("scopeSpans").at(0).at("spans").at(0);
  EXPECT_EQ(one.at("traceId"), json::value(kTrace));
  EXPECT_EQ(one.at("startTimeUnixNano"), json::value("1772357400000000000"));
  EXPECT_EQ(one.at("endTimeUnixNano"), json::value("1772357400125000000"));
  EXPECT_FALSE(one.as_object().contains("status"));
  auto failed = otlp_request_span(world, line_with(kTrace, R"("status":503,)"));
  EXPECT_EQ(failed->at("scopeSpans").at(0).at("spans").at(0).at("status").at("code"), json::value(2));
}

TEST_F(OtlpTest, WithoutPropagationEachRequestIsATraceOfItsOwn) {
  telemetry::State(world.rows)
      .put(telemetry::TelemetryId("c"),
           {.target = "*", .endpoint = "http://otel.example", .samplingRate = 1, .propagation = "none"});
  auto trace_of = [&](const std::string& line) {
    return std::string(
        otlp_request_span(world, line)->at("scopeSpans").at(0).at("spans").at(0).at("traceId").as_string());
  };
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
  EXPECT_TRUE(otlp_request_span(world, line_with(kTrace))) << "the bundle's own share counts";
  EXPECT_FALSE(otlp_request_span(world, "no line"));
  EXPECT_FALSE(otlp_request_span(world, line_with("xyz")));
}

}  // namespace otlp_test
}  // namespace sluice::deploy
