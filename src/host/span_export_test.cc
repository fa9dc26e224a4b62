// What settles is sent once, to who is configured; a kit without telemetry sends nothing.
#include "host/span_export.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/testing_folder.h"
#include "deploy/testing_markers.h"
#include "engine/testing_journal.h"
#include "host/flows/flow_spans.h"
#include "host/testing_orders.h"
#include "store/blob_store.h"
#include "store/memory_store.h"
#include "telemetry.gen.h"

namespace sluice::host {
namespace span_export_test {

struct SpanExportTest : testing::Test {
  void configure(const std::string& endpoint) {
    store::Batch batch;
    batch.state.push_back(
        {"Telemetry", "c1", 1, 0,
         write(sluice::to_json(deploy::telemetry::TelemetryRecord{.target = "*", .endpoint = endpoint}))});
    ASSERT_TRUE(store.commit(batch));
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

TEST_F(SpanExportTest, WithoutAnEndpointNothingIsKept) {
  SpanExport spans(store, blobs, tools, clock);
  engine::TestingJournal journal(store);
  journal.add(order_steps()[0], store::FlowStatus::settled_ok);
  EXPECT_TRUE(spans.look());
}

}  // namespace span_export_test
}  // namespace sluice::host
