// Flows as lists show them, through every door: their states by name, and their rows as JSON.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace sluice::host {

namespace json = boost::json;

// "running", "waiting", "stuck", "settled" or "failed".
std::string_view state_name(store::FlowStatus status);
std::optional<store::FlowStatus> state_named(std::string_view name);

// Why it failed, is dead or stands still; empty if it does not.
std::string failure_of(const store::FlowRow& row);

// flow, state, action, caller, beganAt, and settledAt and failure where there is one.
json::object flow_row_json(const store::FlowRow& row);

// The records of a flow's steps, in their order, also if it is packed.
Result<json::array> flow_records(store::Snapshot& snapshot, const store::FlowRow& row);

}  // namespace sluice::host
