// What a History knows, under the names that programs read.
#include "host/flows/flow_document.h"

#include <boost/json.hpp>

#include "host/flows/flow_words.h"

namespace sluice::host {
namespace {

using engine::History;
using engine::PastInvocation;

std::optional<DateTime> time_at(int64_t at_ms) {
  return at_ms != 0 ? std::optional(DateTime{.ms = at_ms}) : std::nullopt;
}

std::optional<std::string> if_any(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

template <class T>
std::optional<std::vector<T>> if_any(std::vector<T> list) {
  return list.empty() ? std::nullopt : std::optional(std::move(list));
}

EndDocument end_document(const engine::End& end) {
  return {
      .variant = end.variant, .fields = end.fields, .maybeDone = end.maybe_done ? std::optional(true) : std::nullopt};
}

Texts texts_of(const std::vector<engine::RecordId>& ids) {
  Texts texts;
  for (const engine::RecordId& id : ids) texts.push_back(engine::to_string(id));
  return texts;
}

std::optional<std::string> kind_of(PastInvocation::Kind kind) {
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
  return std::nullopt;
}

PlannedDocument planned_document(const engine::Planned& planned) {
  const std::string id = to_string(planned.id);
  switch (planned.kind) {
    case engine::Planned::Kind::invoke:
      return {.invoke = id, .action = planned.action, .fields = json::value(planned.fields)};
    case engine::Planned::Kind::answer:
      return {.answer = id, .variant = planned.variant, .fields = json::value(planned.fields)};
    case engine::Planned::Kind::child:
      break;
  }
  return {.followUp = id};
}

FiringDocument firing_document(const engine::Firing& firing) {
  FiringDocument document{.sync = firing.sync,
                          .matched = texts_of(firing.matched),
                          .rows = firing.rows,
                          .at = {.ms = firing.at_ms},
                          .failure = if_any(firing.failure)};
  if (firing.trigger) document.trigger = engine::to_string(*firing.trigger);
  for (const engine::Planned& planned : firing.then) document.then.push_back(planned_document(planned));
  return document;
}

EventDocument event_document(const engine::FlowEvent& event) {
  return {.event = std::string(name_of(event.kind)),
          .at = {.ms = event.at_ms},
          .caller = if_any(event.caller.name),
          .reason = if_any(event.caller.reason),
          .note = if_any(event.note),
          .attempt = event.attempt != 0 ? std::optional(event.attempt) : std::nullopt,
          .dueAt = time_at(event.due_ms),
          .text = event_text(event)};
}

}  // namespace

InvocationDocument invocation_document(const History& history, size_t invocation) {
  const PastInvocation& one = history.invocations[invocation];
  InvocationDocument document{.id = to_string(one.id),
                              .action = one.action,
                              .input = one.input,
                              .kind = kind_of(one.kind),
                              .undoes = if_any(one.undoes),
                              .askedAt = time_at(one.asked_at_ms),
                              .beganAt = time_at(one.began_at_ms),
                              .endedAt = time_at(one.ended_at_ms),
                              .dueAt = time_at(one.due_ms),
                              .by = if_any(one.by),
                              .note = if_any(one.note),
                              .guards = if_any(one.guards)};
  if (one.asked_by) {
    const engine::Firing& firing = history.firings[*one.asked_by];
    document.askedBy = {.sync = firing.sync,
                        .matched = texts_of(firing.matched),
                        .rows = firing.rows,
                        .firing = static_cast<uint64_t>(*one.asked_by)};
  }
  if (one.beneath) document.beneath = to_string(history.invocations[*one.beneath].id);
  if (one.end) {
    document.end = end_document(*one.end);
  } else {
    document.state = outcome_text(one);
  }
  if (one.by.starts_with("answer")) document.answeredBy = answerer_text(history, one);
  if (one.attempts != 0) document.attempts = one.attempts;
  std::vector<LateDocument> late;
  for (const engine::LateEnd& each : one.late) {
    late.push_back({.end = end_document(each.end), .by = each.by, .at = {.ms = each.at_ms}});
  }
  document.late = if_any(std::move(late));
  return document;
}

FlowDocument flow_document(const FlowView& flow) {
  const History& history = flow.history;
  FlowDocument document{.flow = to_string(flow.row.id),
                        .state = std::string(state_name(flow.row.status)),
                        .stateText = state_text(flow),
                        .caller = if_any(history.caller.name),
                        .reason = if_any(history.caller.reason),
                        .syncs = if_any(history.sync_set),
                        .kit = if_any(flow.kit),
                        .beganAt = {.ms = flow.row.id.wall_ms()},
                        .settledAt = time_at(flow.row.settled_at_ms),
                        .steps = history.steps,
                        .lastLines = last_lines_of(history),
                        .notes = flow.notes};
  if (!history.invocations.empty()) document.action = history.invocations[0].action;
  if (history.child) document.follows = {.flow = to_string(history.child->parent), .sync = history.child->sync};
  if (auto failure = failure_of(flow)) document.failure = invocation_document(history, *failure);
  for (size_t i = 0; i < history.invocations.size(); ++i) {
    document.invocations.push_back(invocation_document(history, i));
  }
  for (const engine::Firing& firing : history.firings) document.firings.push_back(firing_document(firing));
  for (const auto& [child, state] : flow.follow_ups) document.followUps.push_back({to_string(child), state});
  for (const Wait& wait : waits_of(history)) {
    WaitDocument shown{.id = to_string(history.invocations[wait.invocation].id), .text = wait.text};
    if (auto found = flow.awaited_by.find(wait.invocation); found != flow.awaited_by.end()) {
      shown.awaitedBy.emplace();
      for (const engine::NearMiss& each : found->second) shown.awaitedBy->push_back({each.sync, each.missing});
    }
    document.waits.push_back(std::move(shown));
  }
  for (const engine::FlowEvent& event : history.events) document.events.push_back(event_document(event));
  if (flow.misses) {
    document.didNotFire.emplace();
    for (const engine::NearMiss& miss : *flow.misses) document.didNotFire->push_back({miss.sync, miss.missing});
  }
  return document;
}

}  // namespace sluice::host
