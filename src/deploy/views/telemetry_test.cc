// Which telemetry a workload is told of, and what people see of markers.
#include "deploy/views/telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_writer.h"
#include "deploy/testing_views.h"
#include "runtime.gen.h"
#include "telemetry.gen.h"

namespace sluice::deploy::views {
namespace telemetry_views_test {

using testing::HasSubstr;

struct Telemetry : testing::Test {
  Telemetry() {
    rows.deployment("d1");
    rows.revision("r1", "d1", 1);
    runtime::State(rows.rows).put(runtime::RuntimeId("i1"), {.concept_ = "r1", .runtimeType = "local"});
  }
  void configure(const std::string& id, const telemetry::TelemetryRecord& record) {
    telemetry::State(rows.rows).put(telemetry::TelemetryId(id), record);
  }
  json::value read(const std::string& name, const json::object& query = {}) {
    for (const lang::View& each : telemetry_views()) {
      if (each.name == name) return each.read({.rows = rows, .tools = tools}, query).value();
    }
    return {};
  }

  RowsInMemory rows;
  lang::Tools tools;
};

TEST_F(Telemetry, AWorkloadIsToldOfTheMostParticularEndpoint) {
  EXPECT_TRUE(otel_variables(rows, "i1").empty());
  configure("c1", {.target = "*", .endpoint = "http://all.example", .samplingRate = 0.1});
  EXPECT_EQ(otel_variables(rows, "i1").at("OTEL_EXPORTER_OTLP_ENDPOINT"), "http://all.example");
  configure("c2", {.target = "*", .endpoint = "http://prod.example", .scope = "prod"});
  configure("c3", {.target = "cart", .endpoint = "http://cart.example"});
  configure("c4", {.target = "*",
                   .provider = telemetry::TelemetryProvider::grafana,
                   .endpoint = "http://grafana.example",
                   .scope = "local"});
  EXPECT_EQ(otel_variables(rows, "i1").at("OTEL_EXPORTER_OTLP_ENDPOINT"), "http://all.example");
  configure("c5",
            {.target = "shop", .endpoint = "http://shop.example", .samplingRate = 0.25, .serviceNamespace = "a b"});
  const auto told = otel_variables(rows, "i1");
  EXPECT_EQ(told.at("OTEL_EXPORTER_OTLP_ENDPOINT"), "http://shop.example");
  EXPECT_EQ(told.at("OTEL_SERVICE_NAME"), "shop");
  EXPECT_EQ(told.at("OTEL_TRACES_SAMPLER_ARG"), "0.25");
  EXPECT_THAT(told.at("OTEL_RESOURCE_ATTRIBUTES"), HasSubstr("deployment.environment.name=local"));
  EXPECT_THAT(told.at("OTEL_RESOURCE_ATTRIBUTES"), HasSubstr("service.namespace=a%20b"));
  EXPECT_EQ(told.at("OTEL_PROPAGATORS"), "tracecontext,baggage");
  EXPECT_TRUE(otel_variables(rows, "gone").empty());
  configure("c5", {.target = "shop", .endpoint = "http://shop.example", .propagation = "none"});
  EXPECT_EQ(otel_variables(rows, "i1").at("OTEL_PROPAGATORS"), "none");
}

TEST_F(Telemetry, AnEndpointGetsWhatItIsConfiguredFor) {
  configure("c1", {.target = "*", .endpoint = "http://all.example", .key = "env:KEY"});
  configure("c2", {.target = "*", .endpoint = "http://prod.example", .scope = "prod"});
  configure("c3", {.target = "shop", .endpoint = "http://shop.example"});
  configure("c4",
            {.target = "*", .provider = telemetry::TelemetryProvider::grafana, .endpoint = "http://grafana.example"});
  const auto endpoints = otlp_endpoints(rows);
  ASSERT_EQ(endpoints.size(), 3U);
  const OtlpEndpoint &all = endpoints[0], &prod = endpoints[1], &shop = endpoints[2];
  EXPECT_EQ(all.key, "env:KEY");
  EXPECT_TRUE(all.takes("shop", "local") && shop.takes("shop", "local") && prod.takes("shop", "prod"));
  EXPECT_FALSE(prod.takes("shop", "local"));
  EXPECT_FALSE(shop.takes("cart", "local"));
  EXPECT_TRUE(all.takes_work_in({}) && all.takes_work_in({"local"}) && prod.takes_work_in({"local", "prod"}));
  EXPECT_FALSE(prod.takes_work_in({"local"}));
  EXPECT_FALSE(prod.takes_work_in({})) << "it may be about any environment";
  EXPECT_FALSE(shop.takes_work_in({"local"}));
}

TEST_F(Telemetry, MarkersAreShownNewestFirst) {
  telemetry::State state(rows.rows);
  for (int64_t i = 1; i <= 3; ++i) {
    state.add(telemetry::TelemetryMRecord{
        .kit = "shop" + std::to_string(i), .environment = i == 2 ? "prod" : "local", .number = i});
  }
  EXPECT_EQ(read("markers").at(0).at("kit"), json::value("shop3"));
  EXPECT_EQ(read("markers", {{"last", 1}}).as_array().size(), 1U);
  EXPECT_EQ(read("markers", {{"environment", "prod"}}).at(0).at("kit"), json::value("shop2"));
  configure("c1", {.target = "*", .endpoint = "http://all.example"});
  EXPECT_EQ(read("telemetry").at(0).at("environment"), json::value("*"));
  EXPECT_EQ(read("telemetry").at(0).at("sync_spans"), json::value(true));
}

}  // namespace telemetry_views_test
}  // namespace sluice::deploy::views
