// The most particular configuration counts: one of the bundle before one of all, one of the environment before one of
// all.
#include "deploy/views/telemetry.h"

#include <algorithm>
#include <boost/describe/enum_to_string.hpp>
#include <cstdio>

#include "deploy/views/objects.h"
#include "deploy/views/states.h"
#include "http/message.h"
#include "revision.gen.h"
#include "runtime.gen.h"
#include "telemetry.gen.h"

namespace sluice::deploy::views {
namespace {

Result<std::vector<TelemetryView>> read_telemetry(const lang::Reading& reading, const AllQuery&) {
  const States states(reading.rows);
  std::vector<TelemetryView> all;
  for (const auto& each : states.telemetry().all()) {
    all.push_back({.config = each.id.text(),
                   .bundle = each.record.target,
                   .environment = each.record.scope.empty() ? "*" : each.record.scope,
                   .provider = boost::describe::enum_to_string(each.record.provider, ""),
                   .endpoint = each.record.endpoint,
                   .sampling_rate = each.record.samplingRate,
                   .key = each.record.key,
                   .propagation = each.record.propagation.value_or("w3c"),
                   .concept_spans = each.record.conceptSpans.value_or(true),
                   .sync_spans = each.record.syncSpans.value_or(true)});
  }
  return all;
}

Result<std::vector<MarkerView>> read_markers(const lang::Reading& reading, const MarkersQuery& query) {
  const States states(reading.rows);
  std::vector<telemetry::TelemetryMFound> all;
  for (const auto& each : states.telemetry().all_m()) all.push_back(each);
  std::ranges::sort(all, std::greater<>(), [](const auto& each) { return each.record.number; });
  std::vector<MarkerView> shown;
  for (const auto& each : all) {
    if (static_cast<int64_t>(shown.size()) >= query.last) break;
    if (!query.environment.empty() && each.record.environment != query.environment) continue;
    shown.push_back({.marker = each.id.text(),
                     .kit = each.record.kit,
                     .version = each.record.version,
                     .environment = each.record.environment,
                     .status = each.record.status,
                     .deploy = each.record.deploy,
                     .strategy = each.record.strategy,
                     .detail = each.record.detail,
                     .at = each.record.at,
                     .trouble = each.record.trouble});
    if (each.record.sentAt) shown.back().sent_at = *each.record.sentAt;
  }
  return shown;
}

std::string attribute(std::string_view name, const std::string& value) {
  return std::string(name) + "=" + http::percent_encoded(value);
}

std::string rate_text(double rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", rate);
  return text;
}

}  // namespace

std::vector<lang::View> telemetry_views() {
  return {lang::make_view("telemetry", "Where telemetry goes", read_telemetry),
          lang::make_view("markers", "The markers of deployments, the newest first", read_markers)};
}

namespace {

OtlpEndpoint endpoint_of(const telemetry::TelemetryRecord& config) {
  return {.url = config.endpoint,
          .key = config.key,
          .bundle = config.target,
          .environment = config.scope,
          .concept_spans = config.conceptSpans.value_or(true),
          .sync_spans = config.syncSpans.value_or(true),
          .service_name = config.serviceName,
          .service_namespace = config.serviceNamespace,
          .service_version = config.serviceVersion};
}

// The most particular configuration for a bundle.
std::optional<telemetry::TelemetryRecord> otlp_for(const States& states, const std::string& bundle,
                                                   const std::string& environment) {
  std::optional<telemetry::TelemetryRecord> best;
  int most = -1;
  for (const auto& each : states.telemetry().all()) {
    const telemetry::TelemetryRecord& config = each.record;
    if (config.provider != telemetry::TelemetryProvider::otlp) continue;
    if (!endpoint_of(config).takes(bundle, environment)) continue;
    const int particular = (config.target == "*" ? 0 : 2) + (config.scope.empty() ? 0 : 1);
    if (particular > most) best = config;
    most = std::max(most, particular);
  }
  return best;
}

}  // namespace

bool OtlpEndpoint::takes(const std::string& of_bundle, const std::string& there) const {
  return (bundle == "*" || bundle == of_bundle) && (environment.empty() || environment == there);
}

bool OtlpEndpoint::takes_work_in(const std::vector<std::string>& environments) const {
  return bundle == "*" && (environment.empty() || std::ranges::find(environments, environment) != environments.end());
}

std::vector<OtlpEndpoint> otlp_endpoints(const lang::Snapshot& rows) {
  std::vector<OtlpEndpoint> endpoints;
  const States states(rows);
  for (const auto& each : states.telemetry().all()) {
    if (each.record.provider == telemetry::TelemetryProvider::otlp) endpoints.push_back(endpoint_of(each.record));
  }
  return endpoints;
}

RequestTracing request_tracing(const lang::Snapshot& rows, const std::string& bundle, const std::string& environment) {
  const auto config = otlp_for(States(rows), bundle, environment);
  if (!config) return {};
  return {.share = config->samplingRate, .propagates = config->propagation != "none", .to = endpoint_of(*config)};
}

std::map<std::string, std::string> otel_variables(const lang::Snapshot& rows, const std::string& instance) {
  const States states(rows);
  auto runs = states.runtime().get(runtime::RuntimeId(instance));
  auto revision = runs ? states.revision().get(revision::RevisionId(runs->concept_)) : std::nullopt;
  if (!revision) return {};
  const auto best = otlp_for(states, revision->bundle, revision->environment);
  if (!best) return {};
  std::string attributes =
      attribute("service.version", best->serviceVersion.empty() ? revision->version : best->serviceVersion) + "," +
      attribute("deployment.environment.name", revision->environment) + "," +
      attribute("sluice.deployment", revision->deployment) + "," + attribute("sluice.revision", runs->concept_);
  if (!best->serviceNamespace.empty()) attributes += "," + attribute("service.namespace", best->serviceNamespace);
  return {{"OTEL_EXPORTER_OTLP_ENDPOINT", best->endpoint},
          {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"},
          {"OTEL_SERVICE_NAME", best->serviceName.empty() ? revision->bundle : best->serviceName},
          {"OTEL_RESOURCE_ATTRIBUTES", attributes},
          {"OTEL_PROPAGATORS", best->propagation == "none" ? "none" : "tracecontext,baggage"},
          {"OTEL_TRACES_SAMPLER", "parentbased_traceidratio"},
          {"OTEL_TRACES_SAMPLER_ARG", rate_text(best->samplingRate)}};
}

}  // namespace sluice::deploy::views
