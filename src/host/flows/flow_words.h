// The words that the forms of a flow share. For host/flows/flow_*.cc.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "base/json.h"
#include "engine/journal/history.h"

namespace sluice::host {

namespace json = boost::json;

// "Till/pay => declined", "Till/pay runs".
std::string call_text(const engine::PastInvocation& one);
std::string value_text(const json::value& value);
// `order: "o1", count: 2`
std::string fields_text(const json::object& fields);
// "undoes Stock/reserve (7XKQ2M9A)", of a compensation
std::string undoes_text(const engine::PastInvocation& one);
// What answered a request, as somebody who reads of it should know it: "PayOrder", "flow 01J…", "the engine".
std::string answerer_text(const engine::History& history, const engine::PastInvocation& one);
// "Order/place => ok (7XKQ2M9A)"
std::string record_text(const engine::History& history, const engine::RecordId& id);

// "2030-03-17T17:47:40.000Z  cancelled by uid:7: wrong version"
std::string event_text(const engine::FlowEvent& event);

}  // namespace sluice::host
