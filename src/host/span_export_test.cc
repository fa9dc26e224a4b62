// What settles is sent once, to who is configured; a kit without telemetry sends nothing.
#include "host/span_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/testing_folder.h"
#include "deploy/testing_markers.h"
#include "engine/testing_journal.h"
#include "host/flows/flow_spans.h"
#include "host/testing_authority.h"
#include "host/testing_orders.h"
#include "store/blob_store.h"
#include "store/memory_store.h"
#include "telemetry.gen.h"

namespace sluice::host {
namespace span_export_test {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

struct SpanExportTest : testing::Test {
  void configure(const std::string& endpoint, const std::string& environment = "", const std::string& key = "") {
    const deploy::telemetry::TelemetryRecord record{
        .target = "*", .endpoint = endpoint, .scope = environment, .key = key};
    ASSERT_TRUE(store.commit({.state = {{"Telemetry", "c" + environment, 1, 0, write(sluice::to_json(record))}}}));
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  store::MemoryStore store;
  store::BlobStore blobs{disk, folder.path("blobs")};
  lang::Tools tools;
};

TEST_F(SpanExportTest, WhatSettlesIsSentOnce) {
  deploy::MarkerServer server;
  configure(server.url());
  SpanExport spans(store, blobs, tools, clock);
  engine::TestingJournal journal(store);
  journal.add(order_steps()[0], store::FlowStatus::settled_ok);
  EXPECT_TRUE(spans.look());
  EXPECT_TRUE(spans.look());
  ASSERT_EQ(server.requests.size(), 1U);
  EXPECT_EQ(server.requests[0].path, (std::vector<std::string>{"v1", "traces"}));
  const json::value sent = parse_json(server.requests[0].body)->root;
  EXPECT_EQ(sent.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").at(0).at("traceId"),
            json::value(trace_id_of(id(1))));
}

TEST_F(SpanExportTest, ACollectorThatIsAwayIsAskedAgain) {
  deploy::MarkerServer server;
  server.status = 503;
  configure(server.url());
  SpanExport spans(store, blobs, tools, clock);
  engine::TestingJournal journal(store);
  journal.add(order_steps()[0], store::FlowStatus::settled_ok);
  EXPECT_FALSE(spans.look());
  server.status = 200;
  EXPECT_TRUE(spans.look());
  EXPECT_EQ(server.requests.size(), 2U);
}

TEST_F(SpanExportTest, AnEnvironmentsCollectorGetsTheFlowsOfTheEnvironment) {
  deploy::MarkerServer all, staging;
  configure(all.url());
  configure(staging.url(), "staging");
  ASSERT_TRUE(store.commit({.state = {{"Deployment", "d1", 1, 0, R"({"environment":"staging"})"},
                                      {"Deployment", "d2", 1, 0, R"({"environment":"prod"})"}}}));
  const Authority authority({.store = &store, .clock = &clock, .owner = "uid:1000", .kit = deploy_kit()});
  SpanExport spans(store, blobs, tools, clock, &authority);
  engine::TestingJournal journal(store);
  for (uint8_t n : {1, 2, 3}) {
    engine::Step step = order_steps()[0];
    step.flow = step.invocation = id(n);
    step.action = "Traffic/set";
    step.root->input = n == 3 ? json::object() : json::object{{"deployment", "d" + std::to_string(n)}};
    step.fired.clear();
    journal.add(step, store::FlowStatus::settled_ok);
  }
  EXPECT_TRUE(spans.look());
  auto traces = [](const deploy::MarkerServer& server) {
    std::vector<std::string> found;
    for (const http::Request& each : server.requests) {
      const json::value sent = parse_json(each.body)->root;
      for (const json::value& flow : sent.at("resourceSpans").as_array()) {
        const json::value& root = flow.at("scopeSpans").at(0).at("spans").at(0);
        found.emplace_back(root.at("traceId").as_string());
      }
    }
    return found;
  };
  EXPECT_THAT(traces(all), UnorderedElementsAre(trace_id_of(id(1)), trace_id_of(id(2)), trace_id_of(id(3))));
  EXPECT_THAT(traces(staging), ElementsAre(trace_id_of(id(1))));
}

TEST_F(SpanExportTest, ACollectorGetsItsKey) {
  deploy::MarkerServer server;
  configure(server.url(), "", "env:COLLECTOR");
  std::optional<std::string> value;
  deploy::MarkerOutlet outlet(disk, clock, [&](const std::string&) { return value; });
  tools.add(outlet);
  SpanExport spans(store, blobs, tools, clock);
  engine::TestingJournal journal(store);
  journal.add(order_steps()[0], store::FlowStatus::settled_ok);
  EXPECT_FALSE(spans.look()) << "without its key nothing is sent";
  EXPECT_TRUE(server.requests.empty());
  value = "secret";
  EXPECT_TRUE(spans.look());
  ASSERT_EQ(server.requests.size(), 1U);
  const std::string* key = server.requests[0].header("Authorization");
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(*key, "Bearer secret");
}

TEST_F(SpanExportTest, WithoutAnEndpointNothingIsKept) {
  SpanExport spans(store, blobs, tools, clock);
  engine::TestingJournal journal(store);
  journal.add(order_steps()[0], store::FlowStatus::settled_ok);
  EXPECT_TRUE(spans.look());
}

}  // namespace span_export_test
}  // namespace sluice::host
