// Events: what happened, typed and numbered, for people and programs to follow. An event is a step of the journal that
// ended an action of the kit in one of certain variants; its number is the step's position. The table is the only list
// of them: GET /v1/events/types and docs/reference/events.md are made of it.
//
//   if (auto event = event_of(step)) …                // {.name = "rollout.advanced", .fields = {{"rollout", …}, …}}
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "engine/journal/step.h"

namespace sluice::host {

namespace json = boost::json;

struct EventType {
  std::string_view name;                   // "rollout.advanced"
  std::string_view action;                 // "Rollout/advance"
  std::vector<std::string_view> variants;  // that it is an event to end in
  std::string_view summary;
};
const std::vector<EventType>& event_types();

// What a program is told.
struct Event {
  std::string event;  // its type
  uint64_t id = 0;
  std::string at;  // "2026-03-01T09:30:00.125Z"
  std::string flow;
  std::optional<std::string> caller;  // who decided it from outside; none: the flow itself
  std::optional<std::string> reason;
  std::optional<std::string> environment;  // that it belongs to
  std::string action;
  std::string variant;
  json::value fields;
};
BOOST_DESCRIBE_STRUCT(Event, (), (event, id, at, flow, caller, reason, environment, action, variant, fields))

std::optional<Event> event_of(const engine::Step& step);

class Authority;
// The environment that the event names, or that has what it is about; nothing if it belongs to none, or nobody knows.
std::optional<std::string> environment_of(const Event& event, const Authority* authority);

// Which of them somebody wants.
struct EventFilter {
  std::vector<std::string> types;  // "rollout.advanced", "rollout.*"; none: all
  std::string environment;
  std::string object;  // an id among the fields
  std::string flow;

  bool takes_type(std::string_view name) const;
  bool takes(const Event& event) const;
};
// "rollout.*,revision.failed"; `invalid` names what is no type.
Result<std::vector<std::string>> event_types_in(const std::string& text);

}  // namespace sluice::host
