// A flow in a few lines, and why it, or one of its invocations, is as it is.
#include <algorithm>

#include "base/clock.h"
#include "cli/flow_view.h"
#include "cli/flow_words.h"

namespace sluice::cli {
namespace {

using engine::FlowEvent;
using engine::History;
using engine::PastInvocation;
using engine::Step;

// More causes than this are left out in the middle of the story: a loop may have gone round for weeks.
constexpr size_t kLongestStory = 20;

size_t width_of(const Terminal& terminal) { return terminal.tty ? std::min(terminal.width, kTraceWidth) : kTraceWidth; }

std::string sentence(const std::string& text, const Terminal& terminal) {
  return wrap_text(printable(text), width_of(terminal), 4) + "\n";
}

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

// "It was asked for by PayOrder, which matched Order/place => ok (…)".
std::string cause_text(const History& history, const PastInvocation& one) {
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
  std::string text = one.action + " (" + short_id(one.id) + ") was asked for by " + firing.sync + ", which matched ";
  for (size_t i = 0; i < firing.matched.size(); ++i) {
    if (i > 0) text += i + 1 == firing.matched.size() ? " and " : ", ";
    text += record_text(history, firing.matched[i]);
  }
  return text + ".";
}

std::string end_text(const History& history, const PastInvocation& one) {
  if (!one.end) {
    std::string text = one.action + " " + outcome_text(one);
    if (!one.note.empty()) text += ": " + one.note;
    return text + ".";
  }
  std::string text = one.action + " ended at " + utc_text(one.ended_at_ms) + " with " + one.end->variant;
  if (!one.end->fields.empty()) text += "[ " + fields_text(one.end->fields) + " ]";
  if (!one.guards.empty()) text += ", refused by guard " + one.guards[0];
  for (size_t i = 1; i < one.guards.size(); ++i) text += ", also " + one.guards[i];
  if (one.by.starts_with("answer")) {
    text += ", answered by " + answerer_text(history, one);
  } else if (!one.by.empty()) {
    text += ", by " + one.by;
  }
  if (!one.note.empty()) text += ": " + one.note;
  text += ".";
  if (one.end->maybe_done) text += " Its work may or may not have happened.";
  return text;
}

// From the call that began it down to this invocation.
std::vector<std::string> story_of(const History& history, size_t invocation) {
  std::vector<std::string> story;
  // Each was asked for after the one before it, so this ends.
  for (size_t at = invocation;;) {
    const PastInvocation& one = history.invocations[at];
    story.push_back(cause_text(history, one));
    std::optional<size_t> cause = one.undoes.empty() ? std::nullopt : one.beneath;
    if (one.asked_by && history.firings[*one.asked_by].trigger) {
      cause = history.find(history.firings[*one.asked_by].trigger->invocation);
    }
    if (!cause || *cause >= at) break;
    at = *cause;
  }
  if (history.child) {
    story.push_back("The flow follows up flow " + to_string(history.child->parent) + ", by the eventual sync " +
                    history.child->sync + ".");
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

std::string misses_text(const FlowView& flow, const Terminal& terminal) {
  std::string text;
  if (!flow.misses) return text;
  for (const engine::NearMiss& miss : *flow.misses) {
    text += sentence(miss.sync + " did not fire: it misses " + miss.missing, terminal);
  }
  return text;
}

}  // namespace

std::string show_text(const FlowView& flow, const Terminal& terminal) {
  const History& history = flow.history;
  std::string text;
  auto row = [&](std::string name, const std::string& value) {
    if (value.empty()) return;
    name.resize(12, ' ');
    text += terminal.paint(Style::faint, name) + wrap_text(printable(value), width_of(terminal) - 12, 12) + "\n";
  };
  row("flow", to_string(flow.row.id));
  row("state", state_text(flow));
  if (!history.invocations.empty()) {
    const PastInvocation& root = history.invocations[0];
    row("action", call_text(root));
    row("input", fields_text(root.input));
    if (root.end) row("output", fields_text(root.end->fields));
  }
  row("caller", history.caller.name);
  row("reason", history.caller.reason);
  if (history.child) row("follows", to_string(history.child->parent) + " by " + history.child->sync);
  row("began", utc_text(flow.row.id.wall_ms()));
  if (flow.row.settled_at_ms != 0) row("settled", utc_text(flow.row.settled_at_ms));
  row("steps", std::to_string(history.steps) + ", " + std::to_string(history.invocations.size()) + " invocations, " +
                   std::to_string(history.open().size()) + " open");
  for (const auto& [child, state] : flow.follow_ups) row("follow-up", to_string(child) + " " + state);
  for (const Wait& wait : waits_of(history)) row("waits", wait.text);
  for (const FlowEvent& event : history.events) row("event", event_text(event));
  return text;
}

std::string why_text(const FlowView& flow, const Terminal& terminal) {
  const History& history = flow.history;
  bool failed = flow.row.status == store::FlowStatus::settled_failed;
  std::string text =
      sentence("Flow " + to_string(flow.row.id) + (failed ? " " : " is ") + state_text(flow) + ".", terminal);
  if (auto failure = failure_of(flow)) {
    const PastInvocation& one = history.invocations[*failure];
    for (const std::string& line : story_of(history, *failure)) text += sentence(line, terminal);
    text += sentence(end_text(history, one) + " No sync matched that.", terminal);
  } else if (!history.invocations.empty()) {
    text += sentence(cause_text(history, history.invocations[0]), terminal);
    text += sentence(end_text(history, history.invocations[0]), terminal);
  }
  for (const Wait& wait : waits_of(history)) {
    text += sentence("Open: " + wait.text + " (" + short_id(history.invocations[wait.invocation].id) + ").", terminal);
    for (const std::string& each : awaiting_texts(flow, wait.invocation)) text += sentence(each, terminal);
  }
  for (const auto& [child, state] : flow.follow_ups) {
    text += sentence("Follow-up flow " + to_string(child) + " is " + state + ".", terminal);
  }
  for (const FlowEvent& event : history.events) text += sentence(event_text(event), terminal);
  return text + misses_text(flow, terminal);
}

std::string why_text(const FlowView& flow, size_t invocation, const Terminal& terminal) {
  const History& history = flow.history;
  const PastInvocation& one = history.invocations[invocation];
  std::string text = sentence("Invocation " + to_string(one.id) + " is " + one.action + "[ " + fields_text(one.input) +
                                  " ] in flow " + to_string(flow.row.id) + ".",
                              terminal);
  for (const std::string& line : story_of(history, invocation)) text += sentence(line, terminal);
  text += sentence(end_text(history, one), terminal);
  for (const engine::LateEnd& late : one.late) {
    text +=
        sentence("At " + utc_text(late.at_ms) + " came " + (late.end.variant.empty() ? "a result" : late.end.variant) +
                     " by " + late.by + ", too late to count.",
                 terminal);
  }
  for (size_t number : one.fired) {
    const engine::Firing& firing = history.firings[number];
    std::string line = firing.sync + " fired on it";
    if (!firing.failure.empty()) {
      line += ", but could ask for nothing: " + firing.failure;
    } else if (firing.rows == 0 && firing.then.empty()) {
      line += ", but its where found no rows";
    }
    for (size_t i = 0; i < firing.then.size(); ++i) {
      const engine::Planned& planned = firing.then[i];
      line += i == 0 ? ": " : ", ";
      if (planned.kind == engine::Planned::Kind::invoke) line += planned.action + " (" + short_id(planned.id) + ")";
      if (planned.kind == engine::Planned::Kind::answer) {
        line += "answer " + short_id(planned.id) + " => " + planned.variant;
      }
      if (planned.kind == engine::Planned::Kind::child) line += "follow-up flow " + to_string(planned.id);
    }
    text += sentence(line + ".", terminal);
  }
  if (one.end && one.fired.empty()) text += sentence("No sync fired on it.", terminal);
  return text;
}

}  // namespace sluice::cli
