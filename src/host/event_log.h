// An event as a log record of OTLP: with the ids of what it is about, and in the trace of the flow that it is from.
#pragma once

#include <boost/json/object.hpp>

#include "host/events.h"

namespace sluice::host {

// An element of `logRecords`.
json::object log_record_of(const Event& event);

// An ExportLogsServiceRequest of these records.
json::object otlp_logs(json::array records);

}  // namespace sluice::host
