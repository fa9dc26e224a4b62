// The trace: a tree of scopes. What was done to answer a request stands beneath it; what followed from a completion
// stands beside it, in the order in which it was asked for. A fold takes equal neighbours together, also runs of
// several lines: a loop is one block however often it went round.
#include <algorithm>
#include <functional>
#include <map>

#include "base/duration.h"
#include "base/tree.h"
#include "cli/flow_view.h"
#include "cli/flow_words.h"

namespace sluice::cli {
namespace {

using engine::Firing;
using engine::History;
using engine::PastInvocation;
using engine::Planned;

constexpr size_t kDeepestScope = 12;   // deeper ones are drawn at it, so that a line keeps room for words
constexpr size_t kLongestPeriod = 12;  // lines of a loop that are found to repeat
constexpr size_t kFewestRounds = 3;    // of a loop of several lines

// A line of a scope: an invocation, a follow-up flow, or a firing that asked for nothing.
struct Item {
  std::optional<size_t> invocation;
  std::optional<size_t> firing;  // if there is no invocation
  std::optional<Ulid> child;
  size_t likeness = 0;  // equal for items that read alike, with all that is beneath them
};

size_t mix(size_t seed, size_t more) { return (seed ^ more) * 0x9e3779b97f4a7c15 + (seed >> 29); }
size_t mix(size_t seed, std::string_view more) { return mix(seed, std::hash<std::string_view>{}(more)); }

class Tracer {
 public:
  Tracer(const FlowView& flow, const Terminal& terminal)
      : flow_(flow),
        history_(flow.history),
        width_(terminal.tty ? std::min(terminal.width, kTraceWidth) : kTraceWidth),
        scopes_(history_.invocations.size() + 1) {
    collect();
    liken();
  }

  std::vector<TreeLine> lines() {
    lines_.push_back(
        {.depth = 0, .text = "flow " + to_string(flow_.row.id) + " " + state_text(flow_), .style = Style::strong});
    lines_[0].text = truncate_to_width(printable(lines_[0].text), width_);
    emit(0, 1);
    return std::move(lines_);
  }

 private:
  // Scope 0 is the flow; that of request i is i + 1.
  static size_t scope_of(std::optional<size_t> beneath) { return beneath ? *beneath + 1 : 0; }

  void collect() {
    for (size_t i = 0; i < history_.invocations.size(); ++i) {
      if (!history_.invocations[i].asked_by)
        scopes_[scope_of(history_.invocations[i].beneath)].push_back({.invocation = i});
    }
    for (size_t i = 0; i < history_.firings.size(); ++i) {
      const Firing& firing = history_.firings[i];
      std::vector<Item>& scope = scopes_[scope_of(scope_under(firing))];
      if (firing.then.empty()) scope.push_back({.firing = i});
      for (const Planned& planned : firing.then) {
        if (planned.kind == Planned::Kind::child) scope.push_back({.firing = i, .child = planned.id});
        auto at = history_.find(planned.id);
        if (planned.kind == Planned::Kind::invoke && at && history_.invocations[*at].asked_by == i) {
          scope.push_back({.invocation = *at, .firing = i});
        }
      }
    }
  }

  std::optional<size_t> scope_under(const Firing& firing) const {
    if (!firing.trigger) return std::nullopt;
    auto at = history_.find(firing.trigger->invocation);
    if (!at) return std::nullopt;
    return firing.trigger->kind == engine::RecordKind::request ? at : history_.invocations[*at].beneath;
  }

  // Beneath comes later than above, so going backwards every scope is known when its owner is looked at.
  void liken() {
    for (size_t scope = scopes_.size(); scope-- > 0;) {
      for (Item& item : scopes_[scope]) {
        size_t likeness = item.firing ? mix(1, history_.firings[*item.firing].sync) : 0;
        if (item.invocation) {
          const PastInvocation& one = history_.invocations[*item.invocation];
          likeness = mix(likeness, one.action);
          likeness = mix(likeness, outcome_text(one));
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
    std::string sync = item.firing ? "← " + history_.firings[*item.firing].sync : "";
    if (item.child)
      return add(depth, "follow-up flow" + fold, times > 1 ? "" : to_string(*item.child), sync, Style::plain);
    if (!item.invocation) {
      const Firing& firing = history_.firings[*item.firing];
      uint64_t rows = firing.rows;
      if (!firing.failure.empty()) return add(depth, "asked for nothing" + fold, firing.failure, sync, Style::bad);
      return add(depth, rows == 0 ? "no rows" + fold : "nothing to do" + fold, "", sync, Style::faint);
    }
    const PastInvocation& one = history_.invocations[*item.invocation];
    std::string asker = item.firing ? sync : !one.undoes.empty() ? undoes_text(one) : flow_.history.caller.name;
    add(depth, call_text(one) + fold, times > 1 ? "" : remarks(one), asker, style_of(one),
        times > 1 ? "" : when_text(one) + " " + short_id(one.id));
    if (depth < kDeepestTreeLine) emit(*item.invocation + 1, depth + 1);
  }

  // When it ended, counted from the flow's beginning; of what is open, when it was asked for.
  std::string when_text(const PastInvocation& one) const {
    int64_t ms = std::max<int64_t>(0, (one.end ? one.ended_at_ms : one.asked_at_ms) - history_.began_at_ms);
    if (ms < 1000) return "+" + std::to_string(ms) + "ms";
    if (ms >= 60'000) return "+" + print_duration(std::chrono::milliseconds(ms / 1000 * 1000));
    std::string hundredths = std::to_string(ms / 10 % 100);
    return "+" + std::to_string(ms / 1000) + "." + (hundredths.size() < 2 ? "0" : "") + hundredths + "s";
  }

  // What is worth saying of one that ended, the outcome's fields last, as they may be cut.
  std::string remarks(const PastInvocation& one) const {
    std::string text;
    auto say = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
    if (one.end && one.end->maybe_done) say("maybe done");
    for (const std::string& guard : one.guards) say("guard " + guard);
    if (one.by.starts_with("answer")) {
      say("answered by " + answerer_text(history_, one));
    } else if (one.end && !one.by.empty() && one.by != "effect" && one.by != "timer") {
      say("by " + one.by);
    }
    if (one.attempts > 1) say(std::to_string(one.attempts) + " attempts");
    if (!one.late.empty()) say(std::to_string(one.late.size()) + " late");
    if (one.end && !one.end->fields.empty()) say(fields_text(one.end->fields));
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

  const FlowView& flow_;
  const History& history_;
  size_t width_;
  std::vector<std::vector<Item>> scopes_;
  std::vector<TreeLine> lines_;
};

// Lines under a heading, each cut or wrapped so that it fits.
std::string section(const Terminal& terminal, const std::string& heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = "\n" + terminal.paint(Style::heading, heading) + "\n";
  size_t width = terminal.tty ? std::min(terminal.width, kTraceWidth) : kTraceWidth;
  for (const std::string& line : lines) text += "  " + wrap_text(printable(line), width - 2, 6) + "\n";
  return text;
}

}  // namespace

std::string trace_text(const FlowView& flow, bool gates, const Terminal& terminal) {
  std::string text = render(Tracer(flow, terminal).lines(), terminal);
  std::vector<std::string> waits;
  for (const Wait& wait : waits_of(flow.history)) {
    waits.push_back(wait.text + " (" + short_id(flow.history.invocations[wait.invocation].id) + ")");
    for (const std::string& each : awaiting_texts(flow, wait.invocation)) waits.push_back(each);
  }
  text += section(terminal, "Said last", last_lines_of(flow.history));
  if (gates) text += section(terminal, "Waits", waits.empty() ? std::vector<std::string>{"for nothing"} : waits);
  std::vector<std::string> misses;
  if (flow.misses) {
    for (const engine::NearMiss& miss : *flow.misses) misses.push_back(miss.sync + " misses " + miss.missing);
  }
  return text + section(terminal, "Did not fire", misses);
}

}  // namespace sluice::cli
