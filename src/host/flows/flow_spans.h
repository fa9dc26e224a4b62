// A flow as spans of OpenTelemetry, in the JSON of OTLP (docs/guide/telemetry.md): the flow is a trace, each invocation
// a span beneath the request that it was made for, and each sync that fired a span beneath what it fired on.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "engine/journal/history.h"

namespace sluice::host {

// Which spans a trace has besides that of the flow itself. What stands beneath one that is left out stands beneath the
// next one above it.
struct SpanKinds {
  bool actions = true;
  bool syncs = true;
};

// An element of `resourceSpans` in an ExportTraceServiceRequest.
boost::json::object spans_of(const engine::History& history, SpanKinds kinds = {});

// 32 hex digits: a flow's id is a trace's id.
std::string trace_id_of(const Ulid& flow);

}  // namespace sluice::host
