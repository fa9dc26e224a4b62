// Names follow the semantic conventions of OpenTelemetry where there are any.
#include "deploy/otlp.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/json.h"
#include "base/utc_time.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "deploy/views/states.h"
#include "deploy/views/telemetry.h"
#include "revision.gen.h"
#include "router.gen.h"
#include "router/counters.h"
#include "traffic.gen.h"

namespace sluice::deploy {
namespace {

constexpr int64_t kCounts_ms = 2'000;
constexpr int kCumulative = 2, kServer = 2, kError = 2;

json::object attribute_of(std::string_view key, std::string_view text) {
  return {{"key", key}, {"value", json::object{{"stringValue", text}}}};
}

std::string nanos(int64_t ms) { return std::to_string(ms) + "000000"; }

json::object scoped(json::array attributes, const char* what, const char* inner, json::array list) {
  return {{"resource", json::object{{"attributes", std::move(attributes)}}},
          {what, json::array{json::object{{"scope", json::object{{"name", "sluice"}}}, {inner, std::move(list)}}}}};
}

json::object family_of(const json::object& family, int64_t now_ms) {
  json::array points;
  for (const json::value& sample : family.at("samples").as_array()) {
    json::array attributes;
    for (const auto& label : sample.at("labels").as_object()) {
      attributes.push_back(attribute_of(label.key(), label.value().as_string()));
    }
    json::object point{{"timeUnixNano", nanos(now_ms)}, {"asDouble", sample.at("value").to_number<double>()}};
    if (!attributes.empty()) point["attributes"] = std::move(attributes);
    points.push_back(std::move(point));
  }
  return {{"name", family.at("name")},
          {"description", family.at("help")},
          {"gauge", json::object{{"dataPoints", std::move(points)}}}};
}

json::object sum_of(const char* name, const char* description, double value, int64_t since_ms, int64_t now_ms) {
  return {{"name", name},
          {"description", description},
          {"unit", "{request}"},
          {"sum", json::object{{"aggregationTemporality", kCumulative},
                               {"isMonotonic", true},
                               {"dataPoints", json::array{json::object{{"startTimeUnixNano", nanos(since_ms)},
                                                                       {"timeUnixNano", nanos(now_ms)},
                                                                       {"asDouble", value}}}}}}};
}

json::object durations_of(const std::vector<double>& latencies, int64_t since_ms, int64_t now_ms) {
  json::array bounds, counts;
  for (uint32_t end_us : ::sluice::router::kLatencyEnds_us) bounds.emplace_back(static_cast<double>(end_us) / 1e6);
  double all = 0;
  for (double each : latencies) {
    all += each;
    counts.emplace_back(std::to_string(static_cast<int64_t>(each)));
  }
  return {{"name", "http.server.request.duration"},
          {"description", "From a request's head to the end of its answer, as the routers measure it"},
          {"unit", "s"},
          {"histogram",
           json::object{{"aggregationTemporality", kCumulative},
                        {"dataPoints", json::array{json::object{{"startTimeUnixNano", nanos(since_ms)},
                                                                {"timeUnixNano", nanos(now_ms)},
                                                                {"count", std::to_string(static_cast<int64_t>(all))},
                                                                {"bucketCounts", std::move(counts)},
                                                                {"explicitBounds", std::move(bounds)}}}}}}};
}

json::array about_revision(const std::string& bundle, const std::string& version, const std::string& environment,
                           const std::string& deployment, const std::string& revision) {
  return {attribute_of("service.name", bundle), attribute_of("service.version", version),
          attribute_of("deployment.environment.name", environment), attribute_of("sluice.deployment", deployment),
          attribute_of("sluice.revision", revision)};
}

// What all routers of its environment have counted of a deployment's revisions.
std::map<std::string, RouterFleet::Counted> counted(const views::States& states, const RouterFleet& fleet,
                                                    const std::string& deployment, const std::string& environment) {
  std::map<std::string, RouterFleet::Counted> sums;
  for (const auto& each : states.router().members(router::RouterId(environment)).values()) {
    auto counts = fleet.counts({each.router, each.name, each.control}, deployment, kCounts_ms);
    if (!counts) continue;
    for (const auto& [revision, one] : *counts) {
      RouterFleet::Counted& sum = sums[revision];
      sum.requests += one.requests;
      sum.failed += one.failed;
      sum.latencies.resize(std::max(sum.latencies.size(), one.latencies.size()));
      for (size_t i = 0; i < one.latencies.size(); ++i) sum.latencies[i] += one.latencies[i];
    }
  }
  return sums;
}

std::string text_at(const json::object& line, const char* name) {
  const json::value* value = line.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

int64_t number_at(const json::object& line, const char* name) {
  const json::value* value = line.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

bool is_hex(const std::string& text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// As trace-id-ratio samplers decide: by the last 14 digits of the trace's id.
bool is_sampled(const std::string& trace, double share) {
  uint64_t last = 0;
  std::from_chars(trace.data() + trace.size() - 14, trace.data() + trace.size(), last, 16);
  return static_cast<double>(last) < share * static_cast<double>(uint64_t{1} << 56);
}

}  // namespace

json::object otlp_metrics(const lang::Snapshot& rows, const json::array& families, const RouterFleet& fleet,
                          int64_t now_ms) {
  json::array own;
  for (const json::value& each : families) {
    if (!each.at("samples").as_array().empty()) own.push_back(family_of(each.as_object(), now_ms));
  }
  json::array all;
  all.push_back(scoped({attribute_of("service.name", "sluice")}, "scopeMetrics", "metrics", std::move(own)));
  const views::States states(rows);
  for (const auto& split : states.traffic().all()) {
    const auto revisions = states.revision().find_by_deployment(split.id.text());
    if (revisions.empty()) continue;
    const auto sums = counted(states, fleet, split.id.text(), revisions.front().record.environment);
    for (const auto& each : revisions) {
      auto sum = sums.find(each.id.text());
      if (sum == sums.end() || sum->second.requests == 0 || all.size() > kMostMeasured) continue;
      const int64_t since_ms = each.record.createdAt.ms;
      json::array metrics = {
          sum_of("sluice.requests", "Requests that were answered", sum->second.requests, since_ms, now_ms),
          sum_of("sluice.requests.failed", "Requests that were answered with 500 or more", sum->second.failed, since_ms,
                 now_ms),
          durations_of(sum->second.latencies, since_ms, now_ms)};
      all.push_back(scoped(about_revision(each.record.bundle, each.record.version, each.record.environment,
                                          split.id.text(), each.id.text()),
                           "scopeMetrics", "metrics", std::move(metrics)));
    }
  }
  return {{"resourceMetrics", std::move(all)}};
}

std::optional<json::object> otlp_request_span(const lang::Snapshot& rows, std::string_view line) {
  auto parsed = parse_json(line);
  const json::object* request = parsed ? parsed->root.if_object() : nullptr;
  if (request == nullptr) return std::nullopt;
  std::string trace = text_at(*request, "trace");
  const std::string bundle = text_at(*request, "bundle_id");
  const std::string environment = text_at(*request, "env_id"), method = text_at(*request, "method");
  auto ended_ms = parse_utc(text_at(*request, "time"));
  if (!is_hex(trace, 32) || bundle.empty() || method.empty() || !ended_ms) return std::nullopt;
  const std::string digest = crypto::to_hex(crypto::sha256(line));
  const views::RequestTracing tracing = views::request_tracing(rows, bundle, environment);
  if (!tracing.propagates) trace = digest.substr(32);
  if (!is_sampled(trace, tracing.share)) return std::nullopt;
  const int64_t status = number_at(*request, "status");
  const int64_t ended_us = *ended_ms * 1'000, begun_us = ended_us - number_at(*request, "duration_us");
  const std::string revision = text_at(*request, "revision_id");
  const auto record = views::States(rows).revision().get(revision::RevisionId(revision));
  json::object span{
      {"traceId", trace},
      {"spanId", digest.substr(0, 16)},
      {"name", method},
      {"kind", kServer},
      {"startTimeUnixNano", std::to_string(begun_us) + "000"},
      {"endTimeUnixNano", std::to_string(ended_us) + "000"},
      {"attributes",
       json::array{attribute_of("http.request.method", method), attribute_of("url.path", text_at(*request, "path")),
                   attribute_of("server.address", text_at(*request, "host")),
                   attribute_of("sluice.route.reason", text_at(*request, "reason")),
                   json::object{{"key", "http.response.status_code"},
                                {"value", json::object{{"intValue", std::to_string(status)}}}}}}};
  if (status >= 500) span["status"] = json::object{{"code", kError}};
  return scoped(
      about_revision(bundle, record ? record->version : "", environment, text_at(*request, "deployment_id"), revision),
      "scopeSpans", "spans", {std::move(span)});
}

}  // namespace sluice::deploy
