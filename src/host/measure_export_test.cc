// What is measured is sent to who is configured.
#include "host/measure_export.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/testing_folder.h"
#include "deploy/router_fleet.h"
#include "deploy/testing_markers.h"
#include "store/memory_store.h"
#include "telemetry.gen.h"

namespace sluice::host {
namespace measure_export_test {

constexpr const char* kLine =
    R"({"time":"2026-03-01T09:30:00.125Z","env_id":"local","deployment_id":"d1","bundle_id":"shop","revision_id":"r1",)"
    R"("reason":"weight","method":"GET","host":"shop.example","path":"/cart","status":200,"duration_us":812,)"
    R"("trace":"4bf92f3577b34da6a3ce929d0e0e4736","error":""})";

struct MeasureExportTest : testing::Test {
  MeasureExportTest() {
    tools.add(fleet);
    std::filesystem::create_directories(folder.path("routers/main"));
  }
  void configure(const std::string& endpoint) {
    store::Batch batch;
    batch.state.push_back({"Telemetry", "c1", 1, 0,
                           write(sluice::to_json(deploy::telemetry::TelemetryRecord{
                               .target = "*", .endpoint = endpoint, .samplingRate = 1}))});
    ASSERT_TRUE(store.commit(batch));
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

}  // namespace measure_export_test
}  // namespace sluice::host
