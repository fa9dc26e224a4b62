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

json::object number_of(std::string_view key, int64_t number) {
  return {{"key", key}, {"value", json::object{{"intValue", std::to_string(number)}}}};
}

std::string nanos(int64_t ms) { return std::to_string(ms) + "000000"; }

json::object scoped(json::array attributes, const char* what, const char* inner, json::array list) {
  return {{"resource", json::object{{"attributes", std::move(attributes)}}},
          {what, json::array{json::object{{"scope", json::object{{"name", "sluice"}}}, {inner, std::move(list)}}}}};
}

// The samples that are for the endpoint.
json::object family_of(const json::object& family, const views::OtlpEndpoint& to, int64_t now_ms) {
  json::array points;
  for (const json::value& sample : family.at("samples").as_array()) {
    const json::value* place = sample.at("labels").as_object().if_contains("environment");
    std::vector<std::string> environments;
    if (place != nullptr) environments.emplace_back(place->as_string());
    if (!to.takes_work_in(environments)) continue;
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

// As its program says it, which is told the same names.
json::array about_revision(const Measured::OfRevision& of, const views::OtlpEndpoint& to) {
  json::array about = {attribute_of("service.name", to.service_name.empty() ? of.bundle : to.service_name),
                       attribute_of("service.version", to.service_version.empty() ? of.version : to.service_version),
                       attribute_of("deployment.environment.name", of.environment),
                       attribute_of("sluice.deployment", of.deployment), attribute_of("sluice.revision", of.revision)};
  if (!to.service_namespace.empty()) about.push_back(attribute_of("service.namespace", to.service_namespace));
  return about;
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

Measured measure(const lang::Snapshot& rows, json::array families, const RouterFleet& fleet, int64_t now_ms) {
  Measured measured{.at_ms = now_ms, .families = std::move(families)};
  const views::States states(rows);
  for (const auto& split : states.traffic().all()) {
    const auto revisions = states.revision().find_by_deployment(split.id.text());
    if (revisions.empty()) continue;
    const auto sums = counted(states, fleet, split.id.text(), revisions.front().record.environment);
    for (const auto& each : revisions) {
      auto sum = sums.find(each.id.text());
      if (sum == sums.end() || sum->second.requests == 0 || measured.revisions.size() == kMostMeasured) continue;
      measured.revisions.push_back({.bundle = each.record.bundle,
                                    .version = each.record.version,
                                    .environment = each.record.environment,
                                    .deployment = split.id.text(),
                                    .revision = each.id.text(),
                                    .since_ms = each.record.createdAt.ms,
                                    .counted = sum->second});
    }
  }
  return measured;
}

json::object otlp_metrics(const Measured& measured, const views::OtlpEndpoint& to) {
  json::array own;
  for (const json::value& each : measured.families) {
    json::object family = family_of(each.as_object(), to, measured.at_ms);
    if (!family.at("gauge").at("dataPoints").as_array().empty()) own.push_back(std::move(family));
  }
  json::array all;
  if (!own.empty()) {
    all.push_back(scoped({attribute_of("service.name", "sluice")}, "scopeMetrics", "metrics", std::move(own)));
  }
  for (const Measured::OfRevision& each : measured.revisions) {
    if (!to.takes(each.bundle, each.environment)) continue;
    json::array metrics = {
        sum_of("sluice.requests", "Requests that were answered", each.counted.requests, each.since_ms, measured.at_ms),
        sum_of("sluice.requests.failed", "Requests that were answered with 500 or more", each.counted.failed,
               each.since_ms, measured.at_ms),
        durations_of(each.counted.latencies, each.since_ms, measured.at_ms)};
    all.push_back(scoped(about_revision(each, to), "scopeMetrics", "metrics", std::move(metrics)));
  }
  if (all.empty()) return {};
  return {{"resourceMetrics", std::move(all)}};
}

std::optional<RequestSpan> otlp_request_span(const lang::Snapshot& rows, std::string_view line) {
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
  json::array about = {attribute_of("http.request.method", method), attribute_of("url.path", text_at(*request, "path")),
                       attribute_of("server.address", text_at(*request, "host")),
                       attribute_of("sluice.route.reason", text_at(*request, "reason")),
                       number_of("http.response.status_code", status)};
  for (auto [name, field] : {std::pair("sluice.customer", "customer_id"),
                             {"sluice.tenant", "tenant"},
                             {"sluice.team", "team"},
                             {"sluice.deployer", "pack_kind"}}) {
    if (std::string text = text_at(*request, field); !text.empty()) about.push_back(attribute_of(name, text));
  }
  about.push_back(number_of("sluice.generation", number_at(*request, "generation")));
  json::object span{{"traceId", trace},
                    {"spanId", digest.substr(0, 16)},
                    {"name", method},
                    {"kind", kServer},
                    {"startTimeUnixNano", std::to_string(begun_us) + "000"},
                    {"endTimeUnixNano", std::to_string(ended_us) + "000"},
                    {"attributes", std::move(about)}};
  if (status >= 500) span["status"] = json::object{{"code", kError}};
  json::array resource = about_revision({.bundle = bundle,
                                         .version = record ? record->version : "",
                                         .environment = environment,
                                         .deployment = text_at(*request, "deployment_id"),
                                         .revision = revision},
                                        tracing.to);
  return RequestSpan{.to = tracing.to, .span = scoped(std::move(resource), "scopeSpans", "spans", {std::move(span)})};
}

json::array otlp_ids(const json::object& fields) {
  json::array ids;
  for (auto [field, name] : {std::pair("environment", "deployment.environment.name"),
                             {"customer", "sluice.customer"},
                             {"bundle", "sluice.bundle"},
                             {"deployment", "sluice.deployment"},
                             {"revision", "sluice.revision"},
                             {"rollout", "sluice.rollout"},
                             {"plan", "sluice.plan"},
                             {"instance", "sluice.instance"}}) {
    const json::value* id = fields.if_contains(field);
    if (id != nullptr && id->is_string() && !id->get_string().empty())
      ids.push_back(attribute_of(name, id->get_string()));
  }
  return ids;
}

}  // namespace sluice::deploy
