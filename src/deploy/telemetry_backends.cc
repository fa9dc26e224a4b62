// Each backend's own format, from its documentation.
#include "deploy/telemetry_backends.h"

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"

namespace sluice::deploy {
namespace {

constexpr int64_t kMarkerTimeout_ms = 10'000;
constexpr size_t kMostKeyBytes = 64 << 10;
constexpr int kSeverityInfo = 9, kSeverityError = 17;

bool went_wrong(const Marker& marker) { return marker.status == "failed" || marker.status == "rolledback"; }

json::object attribute(std::string_view key, const std::string& text) {
  return {{"key", key}, {"value", json::object{{"stringValue", text}}}};
}

std::string url_of(const MarkerBackend& backend, std::string_view path) {
  std::string url = backend.endpoint;
  while (url.ends_with('/')) url.pop_back();
  return url + std::string(path);
}

std::string otlp_body(const Marker& marker) {
  json::array about = {attribute("event.name", "deployment." + marker.status),
                       attribute("deployment.status", marker.status)};
  if (!marker.deploy.empty()) about.push_back(attribute("deployment.id", marker.deploy));
  if (!marker.strategy.empty()) about.push_back(attribute("deployment.strategy", marker.strategy));
  const std::string at_ns = std::to_string(marker.at_ms) + "000000";
  const json::object record{{"timeUnixNano", at_ns},
                            {"observedTimeUnixNano", at_ns},
                            {"severityNumber", went_wrong(marker) ? kSeverityError : kSeverityInfo},
                            {"severityText", went_wrong(marker) ? "ERROR" : "INFO"},
                            {"body", json::object{{"stringValue", sentence_of(marker)}}},
                            {"attributes", about}};
  const json::array resource = {attribute("service.name", marker.kit), attribute("service.version", marker.version),
                                attribute("deployment.environment.name", marker.environment)};
  return write(json::object{
      {"resourceLogs",
       json::array{json::object{{"resource", json::object{{"attributes", resource}}},
                                {"scopeLogs", json::array{json::object{{"scope", json::object{{"name", "sluice"}}},
                                                                       {"logRecords", json::array{record}}}}}}}}});
}

json::array tags_of(const Marker& marker) {
  json::array tags = {"sluice",
                      "deployment",
                      json::string("kit:" + marker.kit),
                      json::string("version:" + marker.version),
                      json::string("env:" + marker.environment),
                      json::string("status:" + marker.status)};
  if (!marker.strategy.empty()) tags.push_back(json::string("strategy:" + marker.strategy));
  return tags;
}

std::string grafana_body(const Marker& marker) {
  return write(json::object{{"time", marker.at_ms}, {"tags", tags_of(marker)}, {"text", sentence_of(marker)}});
}

std::string datadog_body(const Marker& marker) {
  const char* type = marker.status == "completed" ? "success"
                     : marker.status == "failed"  ? "error"
                     : went_wrong(marker)         ? "warning"
                                                  : "info";
  return write(json::object{{"title", marker.kit + " " + marker.version + " " + marker.status},
                            {"text", sentence_of(marker)},
                            {"date_happened", marker.at_ms / 1'000},
                            {"alert_type", type},
                            {"aggregation_key", marker.deploy.empty() ? marker.id : marker.deploy},
                            {"tags", tags_of(marker)}});
}

// A collector that takes the request may refuse what is in it.
std::string refused_in(const http::OutgoingAnswer& answer) {
  if (answer.body.empty()) return "";
  auto said = parse_json(answer.body);
  if (!said || !said->root.is_object()) return "";
  const auto* partial = said->root.as_object().if_contains("partialSuccess");
  if (partial == nullptr || !partial->is_object()) return "";
  const auto* rejected = partial->as_object().if_contains("rejectedLogRecords");
  if (rejected == nullptr || *rejected == json::value(0) || *rejected == json::value("0")) return "";
  const auto* why = partial->as_object().if_contains("errorMessage");
  return why != nullptr && why->is_string() ? std::string(why->as_string()) : "it rejected the record";
}

// The port of https may be left out of the name; that of http may not, so that a key for https never goes in the clear.
std::string key_file_of(const std::string& url, const std::string& folder) {
  const auto to = http::parse_url(url);
  if (!to || folder.empty()) return "";
  std::string name;
  for (char each : to->host) name += each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
  const bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.:_") == std::string::npos;
  if (name.empty() || name.starts_with('.') || !plain) return "";
  if (!to->tls || to->port != 443) name += ":" + std::to_string(to->port);
  return folder + "/" + name;
}

}  // namespace

std::string fault_of_key(const std::string& key, const std::optional<std::string>& caller) {
  if (key.empty()) return "";
  if (!(key.starts_with("env:") && key.size() > 4) && !key.starts_with("file:/")) {
    return "a key is read from env:NAME or file:/PATH; its value is never given";
  }
  if (!caller || caller->starts_with("uid:")) return "";
  return "only the home's owner may name a key; without one, requests to a host carry what the owner has put into "
         "keys/backends/HOST of the home";
}

std::string sentence_of(const Marker& marker) {
  std::string text = marker.kit + " " + marker.version + " " + marker.status + " in " + marker.environment;
  if (!marker.detail.empty()) text += ": " + marker.detail;
  return text;
}

http::OutgoingRequest request_of(const Marker& marker, const MarkerBackend& backend, const std::string& key) {
  http::OutgoingRequest request{
      .method = "POST", .headers = {{"Content-Type", "application/json"}}, .timeout_ms = kMarkerTimeout_ms};
  if (backend.provider == "grafana") {
    request.url = url_of(backend, "/api/annotations");
    request.body = grafana_body(marker);
    if (!key.empty()) request.headers.push_back({"Authorization", "Bearer " + key});
  } else if (backend.provider == "datadog") {
    request.url = url_of(backend, "/api/v1/events");
    request.body = datadog_body(marker);
    if (!key.empty()) request.headers.push_back({"DD-API-KEY", key});
  } else {
    request.url = url_of(backend, "/v1/logs");
    request.body = otlp_body(marker);
    if (!key.empty()) request.headers.push_back({"Authorization", "Bearer " + key});
  }
  return request;
}

MarkerOutlet::MarkerOutlet(Disk& disk, const Clock& clock, Variables variables, std::string keys)
    : disk_(disk), clock_(clock), variables_(std::move(variables)), keys_(std::move(keys)) {}

Result<std::string> read_backend_key(const std::string& key, const std::string& url, const std::string& folder,
                                     Disk& disk, const Variables& variables) {
  if (key.starts_with("env:")) {
    if (auto value = variables(key.substr(4))) return *value;
    return Error{.code = Code::not_found, .message = "the control plane has no variable " + key.substr(4)};
  }
  const std::string file = key.empty() ? key_file_of(url, folder) : key.substr(5);
  if (file.empty()) return std::string();
  auto text = read_file(disk, file, kMostKeyBytes);
  if (!text && key.empty() && text.error().code == Code::not_found) return std::string();
  if (!text) return text.error();
  while (text->ends_with('\n') || text->ends_with(' ')) text->pop_back();
  return text;
}

Result<std::string> MarkerOutlet::key_for(const std::string& key, const std::string& endpoint) const {
  return read_backend_key(key, endpoint, keys_, disk_, variables_);
}

Result<void> MarkerOutlet::send(const Marker& marker, const MarkerBackend& backend) {
  auto key = key_for(backend.key, backend.endpoint);
  if (!key) return key.error();
  http::Outgoing outgoing(
      {.proxy =
           http::proxy_of([&](const std::string& name) { return variables_(name).value_or(""); }, backend.endpoint)},
      clock_);
  auto answer = outgoing.send(request_of(marker, backend, *key));
  if (!answer) return answer.error();
  if (answer->status < 200 || answer->status > 299) {
    return Error{.code = Code::unavailable, .message = "it answered " + std::to_string(answer->status)};
  }
  if (std::string refused = refused_in(*answer); !refused.empty()) {
    return Error{.code = Code::invalid, .message = refused};
  }
  return {};
}

}  // namespace sluice::deploy
