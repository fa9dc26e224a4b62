// Flows as JSON. Times are RFC 3339; what is not there is left out.
#include <boost/json.hpp>

#include "base/clock.h"
#include "cli/flow_view.h"
#include "cli/flow_words.h"

namespace sluice::cli {
namespace {

using engine::History;
using engine::PastInvocation;

void put_time(json::object& object, std::string_view name, int64_t at_ms) {
  if (at_ms != 0) object[name] = utc_text(at_ms);
}

void put_text(json::object& object, std::string_view name, const std::string& text) {
  if (!text.empty()) object[name] = text;
}

json::value end_json(const engine::End& end) {
  json::object object{{"variant", end.variant}, {"fields", end.fields}};
  if (end.maybe_done) object["maybeDone"] = true;
  return object;
}

json::array ids_json(const std::vector<engine::RecordId>& ids) {
  json::array array;
  for (const engine::RecordId& id : ids) array.emplace_back(engine::to_string(id));
  return array;
}

std::string_view kind_name(PastInvocation::Kind kind) {
  switch (kind) {
    case PastInvocation::Kind::pure:
      return "pure";
    case PastInvocation::Kind::effect:
      return "effect";
    case PastInvocation::Kind::timer:
      return "timer";
    case PastInvocation::Kind::request:
      return "request";
    case PastInvocation::Kind::unknown:
      break;
  }
  return "";
}

json::value firing_json(const engine::Firing& firing) {
  json::array then;
  for (const engine::Planned& planned : firing.then) {
    json::object object;
    switch (planned.kind) {
      case engine::Planned::Kind::invoke:
        object = {{"invoke", to_string(planned.id)}, {"action", planned.action}};
        break;
      case engine::Planned::Kind::answer:
        object = {{"answer", to_string(planned.id)}, {"variant", planned.variant}};
        break;
      case engine::Planned::Kind::child:
        object = {{"followUp", to_string(planned.id)}};
        break;
    }
    if (planned.kind != engine::Planned::Kind::child) object["fields"] = planned.fields;
    then.push_back(std::move(object));
  }
  json::object object{{"sync", firing.sync},
                      {"matched", ids_json(firing.matched)},
                      {"rows", firing.rows},
                      {"at", utc_text(firing.at_ms)},
                      {"then", std::move(then)}};
  put_text(object, "failure", firing.failure);
  return object;
}

json::value event_json(const engine::FlowEvent& event) {
  json::object object{{"event", name_of(event.kind)}, {"at", utc_text(event.at_ms)}};
  put_text(object, "caller", event.caller.name);
  put_text(object, "reason", event.caller.reason);
  put_text(object, "note", event.note);
  if (event.attempt != 0) object["attempt"] = event.attempt;
  put_time(object, "dueAt", event.due_ms);
  return object;
}

}  // namespace

json::value invocation_json(const History& history, size_t invocation) {
  const PastInvocation& one = history.invocations[invocation];
  json::object object{{"id", to_string(one.id)}, {"action", one.action}, {"input", one.input}};
  put_text(object, "kind", std::string(kind_name(one.kind)));
  if (one.asked_by) {
    const engine::Firing& firing = history.firings[*one.asked_by];
    object["askedBy"] =
        json::object{{"sync", firing.sync}, {"matched", ids_json(firing.matched)}, {"rows", firing.rows}};
  }
  put_text(object, "undoes", one.undoes);
  if (one.beneath) object["beneath"] = to_string(history.invocations[*one.beneath].id);
  put_time(object, "askedAt", one.asked_at_ms);
  put_time(object, "beganAt", one.began_at_ms);
  put_time(object, "endedAt", one.ended_at_ms);
  put_time(object, "dueAt", one.due_ms);
  if (one.end) object["end"] = end_json(*one.end);
  if (!one.end) object["state"] = outcome_text(one);
  put_text(object, "by", one.by);
  put_text(object, "note", one.note);
  if (!one.guards.empty()) object["guards"] = json::value_from(one.guards);
  if (one.attempts != 0) object["attempts"] = one.attempts;
  json::array late;
  for (const engine::LateEnd& each : one.late) {
    late.push_back(json::object{{"end", end_json(each.end)}, {"by", each.by}, {"at", utc_text(each.at_ms)}});
  }
  if (!late.empty()) object["late"] = std::move(late);
  return object;
}

json::value flow_json(const FlowView& flow) {
  const History& history = flow.history;
  json::object object{{"flow", to_string(flow.row.id)}, {"state", state_name(flow.row.status)}};
  if (!history.invocations.empty()) object["action"] = history.invocations[0].action;
  put_text(object, "caller", history.caller.name);
  put_text(object, "reason", history.caller.reason);
  put_text(object, "syncs", history.sync_set);
  if (history.child) {
    object["follows"] = json::object{{"flow", to_string(history.child->parent)}, {"sync", history.child->sync}};
  }
  put_time(object, "beganAt", flow.row.id.wall_ms());
  put_time(object, "settledAt", flow.row.settled_at_ms);
  object["steps"] = history.steps;
  if (auto failure = failure_of(flow)) object["failure"] = invocation_json(history, *failure);
  json::array invocations, firings, follow_ups, waits, events;
  for (size_t i = 0; i < history.invocations.size(); ++i) invocations.push_back(invocation_json(history, i));
  for (const engine::Firing& firing : history.firings) firings.push_back(firing_json(firing));
  for (const auto& [child, state] : flow.follow_ups) {
    follow_ups.push_back(json::object{{"flow", to_string(child)}, {"state", state}});
  }
  for (const Wait& wait : waits_of(history)) {
    json::object object{{"id", to_string(history.invocations[wait.invocation].id)}, {"text", wait.text}};
    if (auto found = flow.awaited_by.find(wait.invocation); found != flow.awaited_by.end()) {
      json::array syncs;
      for (const engine::NearMiss& each : found->second) {
        syncs.push_back(json::object{{"sync", each.sync}, {"pattern", each.missing}});
      }
      object["awaitedBy"] = std::move(syncs);
    }
    waits.push_back(std::move(object));
  }
  for (const engine::FlowEvent& event : history.events) events.push_back(event_json(event));
  object["invocations"] = std::move(invocations);
  object["firings"] = std::move(firings);
  object["followUps"] = std::move(follow_ups);
  object["waits"] = std::move(waits);
  object["events"] = std::move(events);
  if (flow.misses) {
    json::array misses;
    for (const engine::NearMiss& miss : *flow.misses) {
      misses.push_back(json::object{{"sync", miss.sync}, {"missing", miss.missing}});
    }
    object["didNotFire"] = std::move(misses);
  }
  return object;
}

}  // namespace sluice::cli
