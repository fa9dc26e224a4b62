// Telemetry keeps where telemetry goes, which analyses are open, and the markers of deployments. Who measures, and
// when, is the host's business (deploy/judge_watch.h).
#include <algorithm>
#include <boost/describe/enum_to_string.hpp>
#include <set>

#include "base/json.h"
#include "base/json_reader.h"
#include "deploy/concepts/telemetry/telemetry_work.h"
#include "plan/planner.h"

namespace sluice::deploy::telemetry {
namespace {

constexpr size_t kMarkersKept = 500;

std::string name_of(TelemetryProvider provider) { return boost::describe::enum_to_string(provider, "otlp"); }

// Backends of this kit and environment that do not have the marker yet.
std::vector<MarkerBackend> backends_of(const State& state, const TelemetryMId& id, const TelemetryMRecord& marker) {
  std::vector<MarkerBackend> backends;
  const auto sent = state.sent_to(id).values();
  for (const auto& each : state.all()) {
    const TelemetryRecord& config = each.record;
    if (config.target != "*" && config.target != marker.kit) continue;
    if (!config.scope.empty() && config.scope != marker.environment) continue;
    if (!config.marked.value_or(true)) continue;
    if (std::ranges::find(sent, each.id.text()) != sent.end()) continue;
    backends.push_back({each.id.text(), name_of(config.provider), config.endpoint, config.key});
  }
  return backends;
}

TelemetryMId marker_of(State& state, const DeployMarker& ask) {
  const std::string deploy = ask.deploy.value_or("");
  int64_t last = 0;
  std::vector<TelemetryMFound> all;
  for (const auto& each : state.all_m()) {
    last = std::max(last, each.record.number);
    if (!deploy.empty() && each.record.deploy == deploy && each.record.status == ask.status) return each.id;
    all.push_back(each);
  }
  std::ranges::sort(all, {}, [](const TelemetryMFound& each) { return each.record.number; });
  for (size_t i = 0; i + kMarkersKept <= all.size(); ++i) {
    state.sent_to(all[i].id).clear();
    state.erase(all[i].id);
  }
  return state.add(TelemetryMRecord{.kit = ask.kit,
                                    .version = ask.version,
                                    .environment = ask.environment,
                                    .status = ask.status,
                                    .deploy = deploy,
                                    .strategy = ask.strategy.value_or(""),
                                    .detail = ask.detail.value_or(""),
                                    .at = state.now(),
                                    .number = last + 1});
}

}  // namespace

Configure::Result Telemetry::configure(const Configure& ask, State& state) {
  const bool http = ask.endpoint.starts_with("http://") || ask.endpoint.starts_with("https://");
  if (!http) return Configure::Invalid{.message = "the endpoint is an http:// or https:// URL, not " + ask.endpoint};
  if (auto url = http::parse_url(ask.endpoint); !url) return Configure::Invalid{.message = url.error().message};
  if (!(ask.samplingRate >= 0 && ask.samplingRate <= 1)) {
    return Configure::Invalid{.message = "the sampling rate is a share, 0 to 1"};
  }
  const std::string provider = ask.provider.value_or("otlp");
  TelemetryProvider which = {};
  if (!boost::describe::enum_from_string(provider.c_str(), which)) {
    return Configure::Invalid{.message = "there is no provider " + provider + "; it is otlp, grafana or datadog"};
  }
  if (std::string fault = fault_of_key(ask.key.value_or(""), ask.caller); !fault.empty())
    return Configure::Invalid{.message = fault};
  if (const std::string propagation = ask.propagation.value_or("w3c"); propagation != "w3c" && propagation != "none") {
    return Configure::Invalid{.message = "there is no propagation " + propagation + "; it is w3c or none"};
  }
  const TelemetryRecord record{.target = ask.concept_,
                               .provider = which,
                               .endpoint = ask.endpoint,
                               .samplingRate = ask.samplingRate,
                               .serviceName = ask.serviceName.value_or(""),
                               .serviceNamespace = ask.serviceNamespace.value_or(""),
                               .serviceVersion = ask.serviceVersion.value_or(""),
                               .scope = ask.environment.value_or(""),
                               .key = ask.key.value_or(""),
                               .propagation = ask.propagation,
                               .conceptSpans = ask.conceptSpans,
                               .syncSpans = ask.syncSpans};
  for (const auto& each : state.find_by_target(ask.concept_)) {
    if (each.record.provider != record.provider || each.record.scope != record.scope) continue;
    state.put(each.id, record);
    return Configure::Ok{.config = each.id};
  }
  return Configure::Ok{.config = state.add(record)};
}

Adopt::Result Telemetry::adopt(const Adopt& ask, State& state) {
  const auto wanted = read<std::vector<plan::Observed>>(parse_json(ask.configs, "configs").value().root).value();
  std::set<TelemetryProvider> kept;
  for (const plan::Observed& each : wanted) {
    TelemetryRecord record{.target = "*",
                           .endpoint = each.endpoint,
                           .samplingRate = each.samplingRate,
                           .scope = ask.environment,
                           .key = each.key,
                           .propagation = each.propagation,
                           .conceptSpans = each.conceptSpans,
                           .syncSpans = each.syncSpans,
                           .marked = each.markers,
                           .origin = ask.app};
    boost::describe::enum_from_string(each.provider.c_str(), record.provider);
    kept.insert(record.provider);
    std::optional<TelemetryId> id;
    for (const auto& there : state.find_by_target("*")) {
      if (there.record.provider == record.provider && there.record.scope == record.scope) id = there.id;
    }
    if (id) state.put(*id, record);
    if (!id) state.add(record);
  }
  for (const auto& each : state.find_by_target("*")) {
    const bool own = each.record.origin == ask.app && each.record.scope == ask.environment;
    if (own && !kept.contains(each.record.provider)) state.erase(each.id);
  }
  return Adopt::Ok{.app = ask.app};
}

Remove::Result Telemetry::remove(const Remove& ask, State& state) {
  if (!state.has(ask.config)) {
    return Remove::NotFound{.config = ask.config, .message = "telemetry goes to no " + ask.config.text()};
  }
  state.erase(ask.config);
  return Remove::Ok{.config = ask.config};
}

DeployMarker::Begun Telemetry::begin_deploy_marker(const DeployMarker& ask, State& state) {
  const TelemetryMId id = marker_of(state, ask);
  const TelemetryMRecord record = *state.get(id);
  auto backends = backends_of(state, id, record);
  if (backends.empty()) return DeployMarker::Ok{.marker = id};
  state.edit(id, [&](TelemetryMRecord& marker) { marker.sending = state.request(); });
  return DeployMarkerWork{.marker = {.id = id.text(),
                                     .kit = record.kit,
                                     .version = record.version,
                                     .environment = record.environment,
                                     .status = record.status,
                                     .deploy = record.deploy,
                                     .strategy = record.strategy,
                                     .detail = record.detail,
                                     .at_ms = record.at.ms},
                          .backends = std::move(backends)};
}

DeployMarker::Performed Telemetry::perform_deploy_marker(const DeployMarkerWork& work, Effect& effect) {
  auto& outlet = effect.tool<MarkerOutlet>();
  DeployMarker::BackendUnavailable failed{.marker = TelemetryMId(work.marker.id)};
  for (const MarkerBackend& each : work.backends) {
    auto sent = outlet.send(work.marker, each);
    if (sent) {
      failed.sent.push_back(each.config);
    } else if (failed.endpoint.empty()) {
      failed.endpoint = each.endpoint;
      failed.reason = each.provider + ": " + sent.error().message;
    }
  }
  if (failed.endpoint.empty()) return DeployMarker::Ok{.marker = failed.marker, .sent = failed.sent};
  return failed;
}

DeployMarker::Outcome Telemetry::finish_deploy_marker(const DeployMarker&, const DeployMarker::Outcome& outcome,
                                                      State& state) {
  for (auto& each : state.find_by_sending(state.request())) {
    each.record.sending.reset();
    each.record.tries++;
    if (const auto* ok = get_if<DeployMarker::Ok>(&outcome)) {
      for (const std::string& config : ok->sent) state.sent_to(each.id).push(config);
      each.record.sentAt = state.now();
      each.record.trouble.clear();
    } else if (const auto* failed = get_if<DeployMarker::BackendUnavailable>(&outcome)) {
      for (const std::string& config : failed->sent) state.sent_to(each.id).push(config);
      each.record.trouble = failed->endpoint + ": " + failed->reason;
    } else if (const auto* engine = get_if<lang::EngineEnd>(&outcome)) {
      each.record.trouble = engine->message;
    }
    state.put(each.id, each.record);
  }
  return outcome;
}

Analyze::Begun Telemetry::begin_analyze(const Analyze& ask, State& state) {
  state.add(TelemetryARecord{.ask = state.request(),
                             .subject = ask.concept_,
                             .window = ask.window,
                             .criteria = ask.criteria,
                             .since = state.now(),
                             .again = ask.again.value_or(false)});
  return lang::Opened{};
}

Analyze::Outcome Telemetry::finish_analyze(const Analyze&, const Analyze::Outcome& outcome, State& state) {
  for (const auto& each : state.find_by_ask(state.request())) state.erase(each.id);
  return outcome;
}

Report::Result Telemetry::report(const Report& ask, State& state) {
  if (!state.has(ask.analysis)) {
    return Report::Closed{.analysis = ask.analysis, .message = "no analysis " + ask.analysis.text() + " is open"};
  }
  return Report::Ok{.analysis = ask.analysis};
}

Open::Result Telemetry::open(const Open&, const State& state) {
  Open::Ok ok;
  for (const auto& each : state.all_a()) {
    ok.analyses.push_back({.analysis = each.id,
                           .concept_ = each.record.subject,
                           .window = each.record.window,
                           .criteria = each.record.criteria,
                           .since = each.record.since});
  }
  return ok;
}

}  // namespace sluice::deploy::telemetry
