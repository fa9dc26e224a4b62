// The name is an attribute, as the semantic conventions have it for events; the body is for people.
#include "host/event_log.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/utc_time.h"
#include "deploy/otlp.h"
#include "host/flows/flow_spans.h"

namespace sluice::host {
namespace {

constexpr int kInfo = 9;  // SEVERITY_NUMBER_INFO

json::object attribute(std::string_view key, std::string_view text) {
  return {{"key", key}, {"value", json::object{{"stringValue", text}}}};
}

}  // namespace

json::object log_record_of(const Event& event) {
  const auto type = std::ranges::find(event_types(), event.event, &EventType::name);
  const auto at_ms = parse_utc(event.at);
  const std::string at_ns = std::to_string(at_ms ? *at_ms : 0) + "000000";
  json::array about = {attribute("event.name", event.event), attribute("sluice.event", std::to_string(event.id)),
                       attribute("sluice.flow", event.flow), attribute("sluice.action", event.action),
                       attribute("sluice.variant", event.variant)};
  if (event.caller) about.push_back(attribute("sluice.caller", *event.caller));
  if (event.reason) about.push_back(attribute("sluice.reason", *event.reason));
  json::object fields = event.fields.is_object() ? event.fields.get_object() : json::object();
  if (event.environment) fields["environment"] = *event.environment;
  for (json::value& each : deploy::otlp_ids(fields)) about.push_back(std::move(each));
  json::object record{
      {"timeUnixNano", at_ns},
      {"observedTimeUnixNano", at_ns},
      {"severityNumber", kInfo},
      {"severityText", "INFO"},
      {"body", json::object{{"stringValue", type == event_types().end() ? event.event : type->summary}}},
      {"attributes", std::move(about)}};
  if (auto flow = Ulid::parse(event.flow)) record["traceId"] = trace_id_of(*flow);
  return record;
}

json::object otlp_logs(json::array records) {
  return {
      {"resourceLogs", json::array{json::object{
                           {"resource", json::object{{"attributes", json::array{attribute("service.name", "sluice")}}}},
                           {"scopeLogs", json::array{json::object{{"scope", json::object{{"name", "sluice"}}},
                                                                  {"logRecords", std::move(records)}}}}}}}};
}

}  // namespace sluice::host
