// What is measured, in the JSON of OTLP: how many of each thing the control plane has, what the routers have counted of
// each revision, and requests that the routers have logged, as spans. host/measure_export.h sends them;
// docs/guide/telemetry.md lists names and attributes.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/router_fleet.h"
#include "deploy/views/telemetry.h"
#include "lang/run/handler.h"

namespace sluice::deploy {

// Revisions of which metrics are sent, at most.
inline constexpr size_t kMostMeasured = 1'000;

// What is measured at a moment.
struct Measured {
  struct OfRevision {
    std::string bundle, version, environment, deployment, revision;
    int64_t since_ms = 0;
    RouterFleet::Counted counted;
  };
  int64_t at_ms = 0;
  boost::json::array families;  // what the view `metrics` answers
  std::vector<OfRevision> revisions;
};
Measured measure(const lang::Snapshot& rows, boost::json::array families, const RouterFleet& fleet, int64_t now_ms);

// An ExportMetricsServiceRequest of what is for this endpoint; empty if nothing is.
boost::json::object otlp_metrics(const Measured& measured, const views::OtlpEndpoint& to);

// A request as an element of `resourceSpans`, and where it goes.
struct RequestSpan {
  views::OtlpEndpoint to;
  boost::json::object span;
};
// Of a line of a router's access log. Nothing if it is no request, or its trace is not among those that its bundle's
// telemetry samples: the share of traces is the same one that programs are told, and of one trace all spans are kept or
// none. Without propagation the request is a trace of its own.
std::optional<RequestSpan> otlp_request_span(const lang::Snapshot& rows, std::string_view line);

// Attributes for the ids among the fields of an action: whose revision, in which environment.
boost::json::array otlp_ids(const boost::json::object& fields);

}  // namespace sluice::deploy
