// What is measured is sent to who is configured.
#include "host/measure_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/testing_folder.h"
#include "deploy/router_fleet.h"
#include "deploy/testing_markers.h"
#include "engine/testing_journal.h"
#include "host/testing_orders.h"
#include "store/memory_store.h"
#include "telemetry.gen.h"

namespace sluice::host {
namespace measure_export_test {

using testing::ElementsAre;

constexpr const char* kLine =
    R"({"time":"2026-03-01T09:30:00.125Z","env_id":"local","deployment_id":"d1","bundle_id":"shop","revision_id":"r1",)"
    R"("reason":"weight","method":"GET","host":"shop.example","path":"/cart","status":200,"duration_us":812,)"
    R"("trace":"4bf92f3577b34da6a3ce929d0e0e4736","error":""})";

struct MeasureExportTest : testing::Test {
  MeasureExportTest() {
    tools.add(fleet);
    std::filesystem::create_directories(folder.path("routers/main"));
  }
  void configure(const std::string& endpoint, const std::string& bundle = "*", const std::string& environment = "") {
    const deploy::telemetry::TelemetryRecord record{
        .target = bundle, .endpoint = endpoint, .samplingRate = 1, .scope = environment};
    ASSERT_TRUE(
        store.commit({.state = {{"Telemetry", "c" + bundle + environment, 1, 0, write(sluice::to_json(record))}}}));
  }
  void log(const std::string& text) {
    ASSERT_TRUE(write_atomically(disk, folder.path("routers/main/access.log"), text, 0600));
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  store::MemoryStore store;
  store::BlobStore blobs{disk, folder.path("blobs")};
  deploy::RouterFleet fleet{disk, folder.path("routers"),
                            [] { return Result<crypto::PrivateKey>(crypto::PrivateKey::generate()); }};
  lang::Tools tools;
  deploy::MarkerServer server;
};

TEST_F(MeasureExportTest, RequestsAreSentOnceAndOnlyTheNewOnes) {
  configure(server.url());
  log(std::string(kLine) + "\n");
  MeasureExport measures({store, blobs, tools, clock, disk}, folder.path("routers"));
  EXPECT_TRUE(measures.send_requests());
  EXPECT_TRUE(server.requests.empty()) << "what was there before is not sent";
  log(std::string(kLine) + "\n" + kLine + "\n{\"half\":");
  EXPECT_TRUE(measures.send_requests());
  EXPECT_TRUE(measures.send_requests());
  ASSERT_EQ(server.requests.size(), 1U);
  EXPECT_EQ(server.requests[0].path, (std::vector<std::string>{"v1", "traces"}));
  const json::value span =
      parse_json(server.requests[0].body)->root.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").at(0);
  EXPECT_EQ(span.at("traceId"), json::value("4bf92f3577b34da6a3ce929d0e0e4736"));
  log(std::string(kLine) + "\n");
  EXPECT_TRUE(measures.send_requests());
  EXPECT_EQ(server.requests.size(), 2U) << "a log that was replaced is read from its beginning";
}

TEST_F(MeasureExportTest, MetricsAreSentToWhoIsConfigured) {
  MeasureExport measures({store, blobs, tools, clock, disk}, folder.path("routers"));
  EXPECT_TRUE(measures.send_metrics());
  EXPECT_TRUE(server.requests.empty());
  configure(server.url());
  EXPECT_TRUE(measures.send_metrics());
  ASSERT_EQ(server.requests.size(), 1U);
  EXPECT_EQ(server.requests[0].path, (std::vector<std::string>{"v1", "metrics"}));
  server.status = 503;
  EXPECT_FALSE(measures.send_metrics());
}

TEST_F(MeasureExportTest, ARequestGoesWhereTheSpansOfItsProgramGo) {
  deploy::MarkerServer own, elsewhere;
  configure(server.url());
  configure(own.url(), "shop", "local");
  configure(elsewhere.url(), "*", "prod");
  log("");
  MeasureExport measures({store, blobs, tools, clock, disk}, folder.path("routers"));
  log(std::string(kLine) + "\n");
  EXPECT_TRUE(measures.send_requests());
  EXPECT_EQ(own.requests.size(), 1U);
  EXPECT_TRUE(server.requests.empty());
  EXPECT_TRUE(elsewhere.requests.empty());
}

// The names of the events that a collector has.
std::vector<std::string> events_at(const deploy::MarkerServer& server) {
  std::vector<std::string> names;
  for (const http::Request& each : server.requests) {
    const json::value sent = parse_json(each.body)->root.at("resourceLogs").at(0).at("scopeLogs").at(0);
    for (const json::value& record : sent.at("logRecords").as_array()) {
      names.emplace_back(record.at("attributes").at(0).at("value").at("stringValue").as_string());
    }
  }
  return names;
}

TEST_F(MeasureExportTest, WhatHappensIsSentOnceAndWhoWasAwayGetsItLater) {
  deploy::MarkerServer prod;
  engine::TestingJournal journal(store);
  uint8_t number = 1;
  auto happens = [&](const std::string& action, const json::object& fields) {
    engine::Step step = order_steps()[0];
    step.flow = step.invocation = id(number++);
    step.action = action;
    step.end = engine::End{.variant = "ok", .fields = fields};
    step.fired.clear();
    journal.add(step, store::FlowStatus::settled_ok);
  };
  happens("Env/create", {{"environment", "before"}});
  configure(server.url());
  configure(prod.url(), "*", "prod");
  MeasureExport measures({store, blobs, tools, clock, disk}, folder.path("routers"));
  EXPECT_TRUE(measures.send_events());
  happens("Env/create", {{"environment", "prod"}});
  happens("Rollout/begin", {{"rollout", "o1"}});
  server.status = 503;
  EXPECT_FALSE(measures.send_events());
  EXPECT_THAT(events_at(prod), ElementsAre("environment.created"));
  server.requests.clear();
  server.status = 200;
  happens("Order/place", {});
  EXPECT_TRUE(measures.send_events());
  EXPECT_TRUE(measures.send_events());
  EXPECT_THAT(events_at(server), ElementsAre("environment.created", "rollout.started"));
  EXPECT_EQ(server.requests.front().path, (std::vector<std::string>{"v1", "logs"}));
  EXPECT_THAT(events_at(prod), ElementsAre("environment.created")) << "once, and nothing of other environments";
}

}  // namespace measure_export_test
}  // namespace sluice::host
