// What each backend gets, to the letter of its documentation.
#include "deploy/telemetry_backends.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/testing_folder.h"
#include "deploy/testing_markers.h"

namespace sluice::deploy {
namespace telemetry_backends_test {

const Marker kMarker{.id = "m1",
                     .kit = "shop",
                     .version = "2.0.0",
                     .environment = "prod",
                     .status = "rolledback",
                     .deploy = "r1/1",
                     .strategy = "canary",
                     .detail = "v2 fails",
                     .at_ms = 1'700'000'000'123};

json::value body_of(const http::OutgoingRequest& request) { return parse_json(request.body).value().root; }

std::string header_of(const http::OutgoingRequest& request, std::string_view name) {
  const std::string* value = http::find_header(request.headers, name);
  return value == nullptr ? "" : *value;
}

TEST(TelemetryBackends, OtlpGetsALogRecord) {
  auto request = request_of(kMarker, {.provider = "otlp", .endpoint = "http://otel.example:4318/"}, "");
  EXPECT_EQ(request.url, "http://otel.example:4318/v1/logs");
  const json::value body = body_of(request);
  const json::value& logs = body.at("resourceLogs").at(0);
  EXPECT_EQ(logs.at("resource").at("attributes").at(0).at("value").at("stringValue"), json::value("shop"));
  const json::value& record = logs.at("scopeLogs").at(0).at("logRecords").at(0);
  EXPECT_EQ(record.at("timeUnixNano"), json::value("1700000000123000000")) << "64-bit numbers are texts in OTLP's JSON";
  EXPECT_EQ(record.at("severityNumber"), json::value(17));
  EXPECT_EQ(record.at("body").at("stringValue"), json::value("shop 2.0.0 rolledback in prod: v2 fails"));
  EXPECT_EQ(record.at("attributes").at(0).at("value").at("stringValue"), json::value("deployment.rolledback"));
}

TEST(TelemetryBackends, GrafanaGetsAnAnnotation) {
  auto request = request_of(kMarker, {.provider = "grafana", .endpoint = "https://grafana.example"}, "token");
  EXPECT_EQ(request.url, "https://grafana.example/api/annotations");
  EXPECT_EQ(header_of(request, "Authorization"), "Bearer token");
  const json::value body = body_of(request);
  EXPECT_EQ(body.at("time"), json::value(1'700'000'000'123)) << "in milliseconds";
  EXPECT_EQ(body.at("text"), json::value("shop 2.0.0 rolledback in prod: v2 fails"));
  EXPECT_EQ(body.at("tags"), (json::value{"sluice", "deployment", "kit:shop", "version:2.0.0", "env:prod",
                                          "status:rolledback", "strategy:canary"}));
}

TEST(TelemetryBackends, DatadogGetsAnEvent) {
  auto request = request_of(kMarker, {.provider = "datadog", .endpoint = "https://api.datadog.example"}, "key");
  EXPECT_EQ(request.url, "https://api.datadog.example/api/v1/events");
  EXPECT_EQ(header_of(request, "DD-API-KEY"), "key");
  const json::value body = body_of(request);
  EXPECT_EQ(body.at("date_happened"), json::value(1'700'000'000)) << "in seconds";
  EXPECT_EQ(body.at("alert_type"), json::value("warning"));
  EXPECT_EQ(body.at("aggregation_key"), json::value("r1/1"));
}

struct Outlet {
  RealClock clock;
  RealDisk disk;
  MarkerOutlet outlet{disk, clock, [](const std::string& name) -> std::optional<std::string> {
                        if (name == "GRAFANA_TOKEN") return "token";
                        return std::nullopt;
                      }};
};

TEST(TelemetryBackends, KeysAreReadWhenTheyAreNeeded) {
  Outlet with;
  MarkerServer server;
  TestingFolder folder;
  ASSERT_TRUE(write_atomically(with.disk, folder.path() + "/key", "from a file\n", 0600));
  auto send = [&](const std::string& key) {
    return with.outlet.send(kMarker, {.provider = "grafana", .endpoint = server.url(), .key = key});
  };
  EXPECT_TRUE(send("env:GRAFANA_TOKEN"));
  EXPECT_TRUE(send("file:" + folder.path() + "/key"));
  ASSERT_EQ(server.requests.size(), 2U);
  EXPECT_EQ(*server.requests[0].header("Authorization"), "Bearer token");
  EXPECT_EQ(*server.requests[1].header("Authorization"), "Bearer from a file");
  ASSERT_TRUE(with.disk.make_folder(folder.path() + "/keys", 0700));
  const std::string host = server.url().substr(std::string("http://").size());
  ASSERT_TRUE(write_atomically(with.disk, folder.path() + "/keys/" + host, "of the host\n", 0600));
  MarkerOutlet hosts(
      with.disk, with.clock, [](const std::string&) { return std::nullopt; }, folder.path() + "/keys");
  EXPECT_TRUE(hosts.send(kMarker, {.provider = "grafana", .endpoint = server.url()}));
  EXPECT_EQ(*server.requests[2].header("Authorization"), "Bearer of the host");
  MarkerServer other;
  EXPECT_TRUE(hosts.send(kMarker, {.provider = "grafana", .endpoint = other.url()}));
  EXPECT_EQ(other.requests[0].header("Authorization"), nullptr) << "another port is another server";
  EXPECT_EQ(send("env:NOTHING").error().message, "the control plane has no variable NOTHING");
  EXPECT_FALSE(send("file:/nowhere"));
  EXPECT_EQ(server.requests.size(), 3U);
}

TEST(TelemetryBackends, ABackendThatRefusesDoesNotHaveTheMarker) {
  Outlet with;
  MarkerServer server;
  server.body = R"({"partialSuccess": {"rejectedLogRecords": "1", "errorMessage": "too old"}})";
  EXPECT_EQ(with.outlet.send(kMarker, {.provider = "otlp", .endpoint = server.url()}).error().message, "too old");
  server.status = 400;
  EXPECT_EQ(with.outlet.send(kMarker, {.provider = "otlp", .endpoint = server.url()}).error().message,
            "it answered 400");
  EXPECT_FALSE(with.outlet.send(kMarker, {.provider = "otlp", .endpoint = "http://127.0.0.1:1"}));
}

}  // namespace telemetry_backends_test
}  // namespace sluice::deploy
