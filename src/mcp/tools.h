// The tools that an agent is offered: about twenty tasks, written for a model, and beside them find_action, call_action
// and read_view for all the rest of the kit. A tool is a name, a description, schemas of what it takes and gives, and a
// function on a Door. No rule of the domain is here: a tool finds out what names mean, and calls an action or reads a
// view.
//
//   const Tool* tool = find_tool("traffic_show");
//   auto given = tool->run(turn, {{"environment", "local"}});
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "host/door.h"
#include "lang/check/check.h"
#include "lang/run/view.h"
#include "mcp/previews.h"

namespace sluice::mcp {

// What a tool is run with: one call of one agent.
struct Turn {
  host::Door& door;
  std::string caller;
  std::shared_ptr<const lang::CheckedKit> kit;
  Previews& previews;
  const Clock& clock;
  host::Waiting waiting;
};

struct Tool {
  std::string name, title, description;
  json::object input;   // JSON Schema
  json::object output;  // likewise; an object always
  lang::Impact effect = lang::Impact::none;
  std::function<Result<json::object>(Turn&, const json::object& given)> run;
  std::function<bool(const json::object& given)> is_failure = {};  // whether what it gives tells of one
};

const std::vector<Tool>& all_tools();
const Tool* find_tool(std::string_view name);
// Whether the arguments are among those that the tool takes, and none is missing; what they say, the tool looks at.
Result<void> check_arguments(const Tool& tool, const json::object& given);

// Calls an action as every tool does: what shifts or destroys only with the plan id of a preview.
Result<json::object> act(Turn& turn, const std::string& action, const json::object& input, const std::string& plan_id,
                         const std::string& reason = {}, const json::value& now = {});

// All views, by name.
std::vector<const lang::ViewWords*> known_views();
// A view's document as an object: lists stand under `items`.
json::object as_object(json::value document);

}  // namespace sluice::mcp
