// tests/telemetry holds messages against the official definitions.
#include "host/event_log.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

#include "host/flows/flow_spans.h"
#include "host/testing_orders.h"

namespace sluice::host {
namespace event_log_test {

TEST(EventLog, ARecordSaysWhatHappenedToWhatAndWhere) {
  const json::object record = log_record_of({.event = "rollout.started",
                                             .id = 7,
                                             .at = "2026-03-01T09:30:00.125Z",
                                             .flow = to_string(id(1)),
                                             .caller = "user:ann",
                                             .environment = "prod",
                                             .action = "Rollout/begin",
                                             .variant = "ok",
                                             .fields = json::object{{"rollout", "o1"}}});
  EXPECT_EQ(record.at("timeUnixNano"), json::value("1772357400125000000"));
  EXPECT_EQ(record.at("traceId"), json::value(trace_id_of(id(1))));
  EXPECT_FALSE(record.at("body").at("stringValue").as_string().empty());
  std::map<std::string, std::string> about;
  for (const json::value& each : record.at("attributes").as_array()) {
    about[std::string(each.at("key").as_string())] = std::string(each.at("value").at("stringValue").as_string());
  }
  const std::map<std::string, std::string> expected = {
      {"event.name", "rollout.started"},       {"sluice.event", "7"},    {"sluice.flow", to_string(id(1))},
      {"sluice.action", "Rollout/begin"},      {"sluice.variant", "ok"}, {"sluice.caller", "user:ann"},
      {"deployment.environment.name", "prod"}, {"sluice.rollout", "o1"}};
  EXPECT_EQ(about, expected);
  const json::object sent = otlp_logs({record});
  EXPECT_EQ(sent.at("resourceLogs").at(0).at("scopeLogs").at(0).at("logRecords").as_array().size(), 1U);
}

}  // namespace event_log_test
}  // namespace sluice::host
