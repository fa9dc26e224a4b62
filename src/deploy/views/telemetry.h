// Where telemetry goes, which deployments were marked, and what workloads are told of it.
#pragma once

#include <boost/describe.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "lang/run/view.h"

namespace sluice::deploy::views {

struct TelemetryView {
  std::string config;
  std::string bundle;       // "*": all
  std::string environment;  // "*": all
  std::string provider;
  std::string endpoint;
  double sampling_rate = 0;
  std::string key;  // where its key is read from
  std::string propagation;
  bool concept_spans = true;
  bool sync_spans = true;
};
BOOST_DESCRIBE_STRUCT(TelemetryView, (),
                      (config, bundle, environment, provider, endpoint, sampling_rate, key, propagation, concept_spans,
                       sync_spans))

struct MarkersQuery {
  std::string environment;  // empty: all
  int64_t last = 20;
  static constexpr std::string_view kDefaulted[] = {"environment", "last"};
};
BOOST_DESCRIBE_STRUCT(MarkersQuery, (), (environment, last))

struct MarkerView {
  std::string marker;
  std::string kit;
  std::string version;
  std::string environment;
  std::string status;
  std::string deploy;
  std::string strategy;
  std::string detail;
  lang::DateTime at;
  OrNull<lang::DateTime> sent_at;  // to every backend
  std::string trouble;             // why not
};
BOOST_DESCRIBE_STRUCT(MarkerView, (),
                      (marker, kit, version, environment, status, deploy, strategy, detail, at, sent_at, trouble))

std::vector<lang::View> telemetry_views();

// Where OTLP goes, as one configuration says.
struct OtlpEndpoint {
  std::string url;
  std::string key;          // where its key is read from; empty: that of its host, if there is one
  std::string bundle;       // "*": all
  std::string environment;  // empty: all
  bool concept_spans = true;
  bool sync_spans = true;
  std::string service_name, service_namespace, service_version;  // empty: as the bundle has it

  // Whether it gets what the routers count of a bundle there.
  bool takes(const std::string& of_bundle, const std::string& there) const;
  // Whether it gets what Sluice itself does in these environments. What belongs to none is for those that get all.
  bool takes_work_in(const std::vector<std::string>& environments) const;
};
std::vector<OtlpEndpoint> otlp_endpoints(const lang::Snapshot& rows);

// How a bundle's requests are traced, by the most particular configuration.
struct RequestTracing {
  double share = 0;        // of traces; 0 if no OTLP endpoint is configured for the bundle
  bool propagates = true;  // false: each request is a trace of its own
  OtlpEndpoint to;         // as for the spans of the program
};
RequestTracing request_tracing(const lang::Snapshot& rows, const std::string& bundle, const std::string& environment);

// The OTEL_* variables of what runs in an instance of Runtime. None if no OTLP endpoint is configured for it.
std::map<std::string, std::string> otel_variables(const lang::Snapshot& rows, const std::string& instance);

}  // namespace sluice::deploy::views
