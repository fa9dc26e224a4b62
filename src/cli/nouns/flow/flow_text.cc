// The trace: a tree of scopes. What was done to answer a request stands beneath it; what followed from a completion
// stands beside it, in the order in which it was asked for. A fold takes equal neighbours together, also runs of
// several lines: a loop is one block however often it went round.
#include "cli/nouns/flow/flow_text.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "base/clock.h"
#include "base/duration.h"
#include "base/tree.h"
#include "host/flows/flow_words.h"

namespace sluice::cli {
namespace {

using host::FiringDocument;
using host::FlowDocument;
using host::InvocationDocument;
using host::PlannedDocument;

constexpr size_t kDeepestScope = 12;   // deeper ones are drawn at it, so that a line keeps room for words
constexpr size_t kLongestPeriod = 12;  // lines of a loop that are found to repeat
constexpr size_t kFewestRounds = 3;    // of a loop of several lines

// A line of a scope: an invocation, a follow-up flow, or a firing that asked for nothing.
struct Item {
  std::optional<size_t> invocation;
  std::optional<size_t> firing;  // if there is no invocation
  std::optional<std::string> child;
  size_t likeness = 0;  // equal for items that read alike, with all that is beneath them
};

size_t width_of(const Terminal& terminal) { return terminal.tty ? std::min(terminal.width, kTraceWidth) : kTraceWidth; }

std::string outcome_of(const InvocationDocument& one) { return one.end ? one.end->variant : one.state.value_or(""); }
std::string call_of(const InvocationDocument& one) { return one.action + (one.end ? " => " : " ") + outcome_of(one); }

std::string tail_of(const std::string& id) { return id.substr(id.size() - std::min<size_t>(id.size(), 8)); }

// "undoes Stock/reserve (7XKQ2M9A)", of a compensation
std::string undone_of(const std::string& undoes) {
  const size_t gap = undoes.rfind(' ');
  return "undoes " + undoes.substr(0, gap) + (gap == std::string::npos ? "" : " (" + tail_of(undoes) + ")");
}

Style style_of(const InvocationDocument& one) {
  if (!one.end) return Style::accent;
  if (one.end->variant == "ok") return Style::good;
  return one.end->variant.starts_with("engine.") ? Style::bad : Style::warning;
}

size_t mix(size_t seed, size_t more) { return (seed ^ more) * 0x9e3779b97f4a7c15 + (seed >> 29); }
size_t mix(size_t seed, std::string_view more) { return mix(seed, std::hash<std::string_view>{}(more)); }

class Tracer {
 public:
  Tracer(const FlowDocument& flow, const Terminal& terminal)
      : flow_(flow), width_(width_of(terminal)), scopes_(flow.invocations.size() + 1) {
    for (size_t i = 0; i < flow.invocations.size(); ++i) by_id_.emplace(flow.invocations[i].id, i);
    collect();
    liken();
  }

  std::vector<TreeLine> lines() {
    lines_.push_back({.depth = 0, .text = "flow " + flow_.flow + " " + flow_.stateText, .style = Style::strong});
    lines_[0].text = truncate_to_width(printable(lines_[0].text), width_);
    emit(0, 1);
    return std::move(lines_);
  }

 private:
  std::optional<size_t> find(const std::string& id) const {
    auto found = by_id_.find(id);
    return found == by_id_.end() ? std::nullopt : std::optional(found->second);
  }

  // Scope 0 is the flow; that of request i is i + 1.
  size_t scope_of(const std::optional<std::string>& beneath) const {
    auto at = beneath ? find(*beneath) : std::nullopt;
    return at ? *at + 1 : 0;
  }

  void collect() {
    for (size_t i = 0; i < flow_.invocations.size(); ++i) {
      const InvocationDocument& one = flow_.invocations[i];
      if (!one.askedBy) scopes_[scope_of(one.beneath)].push_back({.invocation = i});
    }
    for (size_t i = 0; i < flow_.firings.size(); ++i) {
      const FiringDocument& firing = flow_.firings[i];
      std::vector<Item>& scope = scopes_[scope_under(firing)];
      if (firing.then.empty()) scope.push_back({.firing = i});
      for (const PlannedDocument& planned : firing.then) {
        if (planned.followUp) scope.push_back({.firing = i, .child = planned.followUp});
        auto at = planned.invoke ? find(*planned.invoke) : std::nullopt;
        if (at && flow_.invocations[*at].askedBy && flow_.invocations[*at].askedBy->firing == i) {
          scope.push_back({.invocation = *at, .firing = i});
        }
      }
    }
  }

  // What follows from a request is beneath it, what follows from how something ended beside it.
  size_t scope_under(const FiringDocument& firing) const {
    std::string id = firing.trigger.value_or("");
    const bool request = id.ends_with('?');
    if (request) id.pop_back();
    auto at = find(id);
    if (!at) return 0;
    return request ? *at + 1 : scope_of(flow_.invocations[*at].beneath);
  }

  // Beneath comes later than above, so going backwards every scope is known when its owner is looked at.
  void liken() {
    for (size_t scope = scopes_.size(); scope-- > 0;) {
      for (Item& item : scopes_[scope]) {
        size_t likeness = item.firing ? mix(1, flow_.firings[*item.firing].sync) : 0;
        if (item.invocation) {
          const InvocationDocument& one = flow_.invocations[*item.invocation];
          likeness = mix(likeness, one.action);
          likeness = mix(likeness, outcome_of(one));
          for (const Item& below : scopes_[*item.invocation + 1]) likeness = mix(likeness, below.likeness);
        } else if (item.child) {
          likeness = mix(likeness, "child");
        }
        item.likeness = likeness;
      }
    }
  }

  // How many lines from here on repeat, and how often. The choice that covers most lines wins.
  static std::pair<size_t, size_t> repeats(const std::vector<Item>& items, size_t at) {
    std::pair<size_t, size_t> best{1, 1};
    for (size_t period = 1; period <= kLongestPeriod && at + 2 * period <= items.size(); ++period) {
      size_t end = at + period;
      while (end < items.size() && items[end].likeness == items[end - period].likeness) ++end;
      size_t rounds = (end - at) / period;
      if (rounds < (period == 1 ? 2 : kFewestRounds)) continue;
      if (period * rounds > best.first * best.second) best = {period, rounds};
    }
    return best;
  }

  void emit(size_t scope, size_t depth) {
    const std::vector<Item>& items = scopes_[scope];
    for (size_t at = 0; at < items.size();) {
      auto [period, rounds] = repeats(items, at);
      if (period == 1) {
        line(items[at], depth, rounds);
      } else {
        add(depth, "× " + std::to_string(rounds) + ", each:", "", "", Style::faint);
        for (size_t i = 0; i < period; ++i) line(items[at + i], depth + 1, 1);
      }
      at += period * rounds;
    }
  }

  void line(const Item& item, size_t depth, size_t times) {
    std::string fold = times > 1 ? " × " + std::to_string(times) : "";
    std::string sync = item.firing ? "← " + flow_.firings[*item.firing].sync : "";
    if (item.child) return add(depth, "follow-up flow" + fold, times > 1 ? "" : *item.child, sync, Style::plain);
    if (!item.invocation) {
      const FiringDocument& firing = flow_.firings[*item.firing];
      uint64_t rows = firing.rows;
      if (firing.failure) return add(depth, "asked for nothing" + fold, *firing.failure, sync, Style::bad);
      return add(depth, rows == 0 ? "no rows" + fold : "nothing to do" + fold, "", sync, Style::faint);
    }
    const InvocationDocument& one = flow_.invocations[*item.invocation];
    std::string asker = item.firing ? sync : one.undoes ? undone_of(*one.undoes) : flow_.caller.value_or("");
    add(depth, call_of(one) + fold, times > 1 ? "" : remarks(one), asker, style_of(one),
        times > 1 ? "" : when_text(one) + " " + tail_of(one.id));
    if (depth < kDeepestTreeLine) emit(*item.invocation + 1, depth + 1);
  }

  // When it ended, counted from the flow's beginning; of what is open, when it was asked for.
  std::string when_text(const InvocationDocument& one) const {
    const auto at = one.end ? one.endedAt : one.askedAt;
    const auto began = flow_.invocations.empty() ? at : flow_.invocations.front().askedAt;
    const int64_t ms = at && began ? std::max<int64_t>(0, at->ms - began->ms) : 0;
    if (ms < 1000) return "+" + std::to_string(ms) + "ms";
    if (ms >= 60'000) return "+" + print_duration(std::chrono::milliseconds(ms / 1000 * 1000));
    std::string hundredths = std::to_string(ms / 10 % 100);
    return "+" + std::to_string(ms / 1000) + "." + (hundredths.size() < 2 ? "0" : "") + hundredths + "s";
  }

  // What is worth saying of one that ended, the outcome's fields last, as they may be cut.
  std::string remarks(const InvocationDocument& one) const {
    std::string text;
    auto say = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
    if (one.end && one.end->maybeDone) say("maybe done");
    for (const std::string& guard : one.guards.value_or(host::Texts())) say("guard " + guard);
    if (one.answeredBy) {
      say("answered by " + *one.answeredBy);
    } else if (one.end && one.by && *one.by != "effect" && *one.by != "timer") {
      say("by " + *one.by);
    }
    if (one.attempts.value_or(0) > 1) say(std::to_string(*one.attempts) + " attempts");
    if (one.late) say(std::to_string(one.late->size()) + " late");
    if (one.end && !one.end->fields.as_object().empty()) say(host::fields_text(one.end->fields.as_object()));
    return text;
  }

  // A line that fits: what happened, as much of the remarks as there is room for, who asked for it, and what it is
  // called, which commands take and is never cut.
  void add(size_t depth, const std::string& what, const std::string& remarks, const std::string& asker, Style style,
           const std::string& name = "") {
    size_t drawn = std::min(depth, kDeepestScope);
    size_t room = width_ - 3 * drawn;
    std::string last = name.empty() ? "" : (asker.empty() ? "  " : " ") + name;
    size_t left = room - std::min(room, display_width(last));
    std::string text = printable(what);
    std::string end = asker.empty() ? "" : "  " + printable(asker);
    if (!remarks.empty()) {
      size_t used = display_width(text) + display_width(end) + 2;
      if (used + 4 <= left) text += "  " + truncate_to_width(printable(remarks), left - used);
    }
    text = truncate_to_width(truncate_to_width(text + end, left) + last, room);
    lines_.push_back({.depth = drawn, .text = std::move(text), .style = style});
  }

  const FlowDocument& flow_;
  size_t width_;
  std::unordered_map<std::string, size_t> by_id_;
  std::vector<std::vector<Item>> scopes_;
  std::vector<TreeLine> lines_;
};

// Lines under a heading, each cut or wrapped so that it fits.
std::string section(const Terminal& terminal, const std::string& heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = "\n" + terminal.paint(Style::heading, heading) + "\n";
  const size_t width = width_of(terminal);
  for (const std::string& line : lines) text += "  " + wrap_text(printable(line), width - 2, 6) + "\n";
  return text;
}

}  // namespace

std::string sentence(const std::string& text, const Terminal& terminal) {
  return wrap_text(printable(text), width_of(terminal), 4) + "\n";
}

std::string show_text(const FlowDocument& flow, const Terminal& terminal) {
  std::string text;
  auto row = [&](std::string name, const std::string& value) {
    if (value.empty()) return;
    name.resize(12, ' ');
    text += terminal.paint(Style::faint, name) + wrap_text(printable(value), width_of(terminal) - 12, 12) + "\n";
  };
  row("flow", flow.flow);
  row("state", flow.stateText);
  if (!flow.invocations.empty()) {
    const InvocationDocument& root = flow.invocations[0];
    row("action", call_of(root));
    row("input", host::fields_text(root.input.as_object()));
    if (root.end) row("output", host::fields_text(root.end->fields.as_object()));
  }
  row("caller", flow.caller.value_or(""));
  row("reason", flow.reason.value_or(""));
  if (flow.follows) row("follows", flow.follows->flow + " by " + flow.follows->sync);
  row("began", utc_text(flow.beganAt.ms));
  if (flow.settledAt) row("settled", utc_text(flow.settledAt->ms));
  const auto open = std::ranges::count_if(flow.invocations, [](const auto& one) { return !one.end; });
  row("steps", std::to_string(flow.steps) + ", " + std::to_string(flow.invocations.size()) + " invocations, " +
                   std::to_string(open) + " open");
  for (const host::FollowUpDocument& each : flow.followUps) row("follow-up", each.flow + " " + each.state);
  for (const host::WaitDocument& each : flow.waits) row("waits", each.text);
  for (const host::EventDocument& each : flow.events) row("event", each.text);
  return text;
}

std::string trace_text(const FlowDocument& flow, bool gates, const Terminal& terminal) {
  std::string text = render(Tracer(flow, terminal).lines(), terminal);
  std::vector<std::string> waits, misses;
  for (const host::WaitDocument& wait : flow.waits) {
    waits.push_back(wait.text + " (" + tail_of(wait.id) + ")");
    for (const auto& each : wait.awaitedBy.value_or(std::vector<host::AwaitedDocument>())) {
      waits.push_back(each.sync + " waits for " + each.pattern);
    }
  }
  for (const auto& each : flow.didNotFire.value_or(std::vector<host::MissDocument>())) {
    misses.push_back(each.sync + " misses " + each.missing);
  }
  text += section(terminal, "Said last", flow.lastLines);
  if (gates) text += section(terminal, "Waits", waits.empty() ? std::vector<std::string>{"for nothing"} : waits);
  return text + section(terminal, "Did not fire", misses);
}

}  // namespace sluice::cli
