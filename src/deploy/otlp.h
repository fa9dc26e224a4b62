// What is measured, in the JSON of OTLP: how many of each thing the control plane has, what the routers have counted of
// each revision, and requests that the routers have logged, as spans. host/measure_export.h sends them;
// docs/guide/telemetry.md lists names and attributes.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "deploy/router_fleet.h"
#include "lang/run/handler.h"

namespace sluice::deploy {

// Revisions of which metrics are sent, at most.
inline constexpr size_t kMostMeasured = 1'000;

// An ExportMetricsServiceRequest. `families` is what the view `metrics` answers.
boost::json::object otlp_metrics(const lang::Snapshot& rows, const boost::json::array& families,
                                 const RouterFleet& fleet, int64_t now_ms);

// A line of a router's access log as an element of `resourceSpans`. Nothing if it is no request, or its trace is not
// among those that its bundle's telemetry samples: the share of traces is the same one that programs are told, and of
// one trace all spans are kept or none. Without propagation the request is a trace of its own.
std::optional<boost::json::object> otlp_request_span(const lang::Snapshot& rows, std::string_view line);

}  // namespace sluice::deploy
