// Why a flow, or one of its invocations, is as it is.
#include <algorithm>

#include "base/clock.h"
#include "host/flows/flow_view.h"
#include "host/flows/flow_words.h"

namespace sluice::host {
namespace {

using engine::FlowEvent;
using engine::History;
using engine::PastInvocation;
using engine::Step;

// More causes than this are left out in the middle of the story: a loop may have gone round for weeks.
constexpr size_t kLongestStory = 20;

}  // namespace

std::string event_text(const FlowEvent& event) {
  std::string text = utc_text(event.at_ms) + "  ";
  switch (event.kind) {
    case Step::Kind::child:
      text += "opened by its parent";
      break;
    case Step::Kind::dispatch:
      text += "dispatched" + (event.attempt > 1 ? ", attempt " + std::to_string(event.attempt) : std::string());
      break;
    case Step::Kind::dead:
      text += "given up after " + std::to_string(event.attempt) + " attempts";
      break;
    case Step::Kind::again:
      text +=
          "attempt " + std::to_string(event.attempt) + " did not work, the next is due at " + utc_text(event.due_ms);
      break;
    case Step::Kind::drop:
      text += "dropped";
      break;
    case Step::Kind::cancel:
      text += "cancelled";
      break;
    case Step::Kind::move:
      text += "moved to other syncs";
      break;
    case Step::Kind::resolve:
      text += "decided what became of an action that may have been done";
      break;
    default:
      text += name_of(event.kind);
  }
  if (!event.caller.name.empty()) text += " by " + event.caller.name;
  if (!event.caller.reason.empty()) text += ": " + event.caller.reason;
  if (!event.note.empty()) text += ": " + event.note;
  return text;
}

namespace {

// "It was asked for by PayOrder, which matched Order/place => ok (…)".
std::string cause_text(const History& history, const PastInvocation& one, bool rules) {
  if (!one.undoes.empty() && one.beneath) {
    return one.action + " (" + short_id(one.id) + ") " + undoes_text(one) + ", as Flow/undo (" +
           short_id(history.invocations[*one.beneath].id) + ") asks for.";
  }
  if (!one.asked_by) {
    if (!history.caller.name.empty()) {
      return one.action + " was called by " + history.caller.name +
             (history.caller.reason.empty() ? "" : ": " + history.caller.reason) + ".";
    }
    return one.action + " was called from outside.";
  }
  const engine::Firing& firing = history.firings[*one.asked_by];
  std::string text = one.action + " (" + short_id(one.id) + ")";
  text += rules ? " was asked for by " + firing.sync + ", which matched " : " followed from ";
  for (size_t i = 0; i < firing.matched.size(); ++i) {
    if (i > 0) text += i + 1 == firing.matched.size() ? " and " : ", ";
    text += record_text(history, firing.matched[i]);
  }
  return text + ".";
}

// What an end says to people; empty if it has nothing but fields.
std::string told_by(const json::object& fields) {
  for (const char* name : {"message", "reason"}) {
    const json::value* text = fields.if_contains(name);
    if (text == nullptr || !text->is_string()) continue;
    const std::string said(text->get_string());
    std::string told = said.substr(0, said.find("; next: "));
    const json::value* lines = fields.if_contains("lastLines");
    if (lines != nullptr && lines->is_array()) {
      std::string last;  // of the program: those that begin with `sluice` are not its own
      for (const json::value& each : lines->get_array()) {
        if (each.is_string() && !each.get_string().starts_with("sluice ")) last = each.get_string();
      }
      if (!last.empty()) told += "; the last line it printed: " + last;
    }
    return told;
  }
  return "";
}

std::string end_text(const History& history, const PastInvocation& one, bool rules) {
  if (!one.end) {
    std::string text = one.action + " " + outcome_text(one);
    if (!one.note.empty()) text += ": " + one.note;
    return text + ".";
  }
  std::string text = one.action + " ended at " + utc_text(one.ended_at_ms) + " with " + one.end->variant;
  const std::string told = rules ? "" : told_by(one.end->fields);
  if (!told.empty()) text += ": " + told;
  if (told.empty() && !one.end->fields.empty()) text += "[ " + fields_text(one.end->fields) + " ]";
  if (rules && !one.guards.empty()) text += ", refused by guard " + one.guards[0];
  for (size_t i = 1; rules && i < one.guards.size(); ++i) text += ", also " + one.guards[i];
  if (one.by.starts_with("answer")) {
    if (rules) text += ", answered by " + answerer_text(history, one);
  } else if (!one.by.empty()) {
    text += ", by " + one.by;
  }
  if (!one.note.empty()) text += ": " + one.note;
  text += ".";
  if (one.end->maybe_done) text += " Its work may or may not have happened.";
  return text;
}

// "CardDeclined fired on it: answer 7XKQ2M9A => declined."
std::string firing_text(const engine::Firing& firing) {
  std::string line = firing.sync + " fired on it";
  if (!firing.failure.empty()) {
    line += ", but could ask for nothing: " + firing.failure;
  } else if (firing.rows == 0 && firing.then.empty()) {
    line += ", but its where found no rows";
  }
  for (const engine::Planned& planned : firing.then) {
    line += &planned == firing.then.data() ? ": " : ", ";
    if (planned.kind == engine::Planned::Kind::invoke) line += planned.action + " (" + short_id(planned.id) + ")";
    if (planned.kind == engine::Planned::Kind::answer) {
      line += "answer " + short_id(planned.id) + " => " + planned.variant;
    }
    if (planned.kind == engine::Planned::Kind::child) line += "follow-up flow " + to_string(planned.id);
  }
  return line + ".";
}

std::vector<std::string> then(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

// From the call that began it down to this invocation.
std::vector<std::string> story_of(const History& history, size_t invocation, bool rules) {
  std::vector<std::string> story;
  // Each was asked for after the one before it, so this ends.
  for (size_t at = invocation;;) {
    const PastInvocation& one = history.invocations[at];
    story.push_back(cause_text(history, one, rules));
    std::optional<size_t> cause = one.undoes.empty() ? std::nullopt : one.beneath;
    if (one.asked_by && history.firings[*one.asked_by].trigger) {
      cause = history.find(history.firings[*one.asked_by].trigger->invocation);
    }
    if (!cause || *cause >= at) break;
    at = *cause;
  }
  if (history.child) {
    story.push_back("The flow follows up flow " + to_string(history.child->parent) +
                    (rules ? ", by the eventual sync " + history.child->sync : "") + ".");
  }
  std::ranges::reverse(story);
  if (story.size() > kLongestStory) {
    size_t left_out = story.size() - kLongestStory;
    story.erase(story.begin() + kLongestStory / 2,
                story.begin() + static_cast<std::ptrdiff_t>(kLongestStory / 2 + left_out));
    story.insert(story.begin() + kLongestStory / 2, "… " + std::to_string(left_out) + " steps between …");
  }
  return story;
}

}  // namespace

std::vector<std::string> why_sentences(const FlowView& flow, bool rules) {
  const History& history = flow.history;
  const bool failed = flow.row.status == store::FlowStatus::settled_failed;
  std::vector<std::string> said = {"Flow " + to_string(flow.row.id) + (failed ? " " : " is ") + state_text(flow) + "."};
  if (auto failure = failure_of(flow)) {
    said = then(std::move(said), story_of(history, *failure, rules));
    const PastInvocation& one = history.invocations[*failure];
    const bool unmatched = std::ranges::none_of(one.fired, [&](size_t firing) {
      return history.firings[firing].trigger == engine::RecordId{one.id, engine::RecordKind::completion};
    });
    said.push_back(end_text(history, one, rules) + (rules && unmatched ? " No sync matched that." : ""));
  } else if (!history.invocations.empty()) {
    said.push_back(cause_text(history, history.invocations[0], rules));
    said.push_back(end_text(history, history.invocations[0], rules));
  }
  for (const Wait& wait : waits_of(history)) {
    said.push_back("Open: " + wait.text + " (" + short_id(history.invocations[wait.invocation].id) + ").");
    if (rules) said = then(std::move(said), awaiting_texts(flow, wait.invocation));
  }
  for (const auto& [child, state] : flow.follow_ups) {
    if (!rules && state == "settled") continue;
    said.push_back("Follow-up flow " + to_string(child) + " is " + state + ".");
  }
  for (const FlowEvent& event : history.events) said.push_back(event_text(event));
  if (!rules || !flow.misses) return said;
  for (const engine::NearMiss& miss : *flow.misses) {
    said.push_back(miss.sync + " did not fire: it misses " + miss.missing);
  }
  return said;
}

std::vector<std::string> why_sentences(const FlowView& flow, size_t invocation, bool rules) {
  const History& history = flow.history;
  const PastInvocation& one = history.invocations[invocation];
  std::vector<std::string> said = {"Invocation " + to_string(one.id) + " is " + one.action + "[ " +
                                   fields_text(one.input) + " ] in flow " + to_string(flow.row.id) + "."};
  said = then(std::move(said), story_of(history, invocation, rules));
  said.push_back(end_text(history, one, rules));
  for (const engine::LateEnd& late : one.late) {
    said.push_back("At " + utc_text(late.at_ms) + " came " +
                   (late.end.variant.empty() ? "a result" : late.end.variant) + " by " + late.by +
                   ", too late to count.");
  }
  if (!rules) return said;
  for (size_t number : one.fired) said.push_back(firing_text(history.firings[number]));
  if (one.end && one.fired.empty()) said.emplace_back("No sync fired on it.");
  return said;
}

}  // namespace sluice::host
