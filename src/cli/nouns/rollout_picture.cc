// From top to bottom: what moves, how far it is, how the two revisions do, what the judge says, what it waits for.
#include "cli/nouns/rollout_picture.h"

#include <algorithm>
#include <boost/json.hpp>
#include <sstream>

#include "base/basis_points.h"
#include "base/duration.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "judge/sentence.h"

namespace sluice::cli {
namespace {

namespace views = deploy::views;
using deploy::rollout::RolloutStatus;

constexpr size_t kMostSpark = 16, kFewestSpark = 3;

std::string percent(int64_t bps) { return print_basis_points(static_cast<int>(bps)); }

std::string age(const views::RolloutView& view) {
  const int64_t until = view.ended_at ? view.ended_at->ms : view.now.ms;
  const int64_t seconds = std::max<int64_t>((until - view.started_at.ms) / 1'000, 0);
  return print_duration(std::chrono::seconds(seconds));
}

const char* mark_of(RolloutStatus status) {
  switch (status) {
    case RolloutStatus::queued:
    case RolloutStatus::due:
      return "◷";
    case RolloutStatus::running:
      return "●";
    case RolloutStatus::paused:
      return "॥";
    case RolloutStatus::returning:
      return "↩";
    case RolloutStatus::watching:
    case RolloutStatus::complete:
      return "✔";
    case RolloutStatus::aborted:
    case RolloutStatus::superseded:
      return "✖";
    case RolloutStatus::stuck:
      return "⚠";
  }
  return "";
}

// "✔ 10%  5m   ▶ 50%  10m   ○ 100%"
std::string steps_line(const views::RolloutView& view, const Terminal& terminal) {
  std::string line;
  for (const views::StepView& each : view.steps) {
    const bool over = view.status == RolloutStatus::complete || view.status == RolloutStatus::watching;
    const bool passed = over || each.state == views::StepState::passed;
    const bool current = !passed && each.state == views::StepState::current;
    std::string text = std::string(passed ? "✔ " : current ? "▶ " : "○ ") + percent(each.weight_bps);
    if (each.manual) text += " by hand";
    if (each.pause_s > 0) text += " " + print_duration(std::chrono::seconds(each.pause_s));
    const Style style = passed ? Style::good : current ? Style::strong : Style::faint;
    line += (line.empty() ? "" : "   ") + terminal.paint(style, text);
  }
  return line;
}

std::string weight_bar(int64_t bps, size_t cells, const Terminal& terminal) {
  const auto full = static_cast<size_t>(bps * static_cast<int64_t>(cells) + 9'999) / 10'000;
  std::string in, out;
  for (size_t i = 0; i < cells; ++i) (i < full ? in : out) += i < full ? "█" : "░";
  return terminal.paint(Style::accent, in) + terminal.paint(Style::faint, out);
}

std::string per_second_text(double per_s) {
  char text[32];
  std::snprintf(text, sizeof text, per_s < 10 ? "%.1f/s" : "%.0f/s", per_s);
  return text;
}

std::vector<Cell> side_row(const views::SideView& side, bool is_new, size_t spark) {
  auto ms = [](const OrNull<double>& time) { return time ? judge::latency_text(*time) : std::string("-"); };
  const bool failing = side.error_share && *side.error_share > 0;
  return {{side.name, is_new ? Style::strong : Style::plain},
          {is_new ? "new" : "old"},
          {std::to_string(side.replicas)},
          {per_second_text(side.requests_per_s)},
          {sparkline(side.past_requests_per_s, spark)},
          {side.error_share ? judge::share_text(*side.error_share) : "-", failing ? Style::bad : Style::plain},
          {sparkline(side.past_error_shares, spark), failing ? Style::bad : Style::plain},
          {ms(side.p50_ms)},
          {ms(side.p99_ms)},
          {sparkline(side.past_p99_ms, spark)}};
}

// Both revisions, with as many of the newest looks as the terminal has room for.
Table sides_of(const views::RolloutView& view, const Terminal& terminal) {
  Table table{.columns = {{"REVISION"},
                          {""},
                          {"REPLICAS", Align::right},
                          {"RATE", Align::right},
                          {""},
                          {"ERRORS", Align::right},
                          {""},
                          {"P50", Align::right},
                          {"P99", Align::right},
                          {""}}};
  auto fits = [&] {
    std::istringstream lines(render(table, {}));
    for (std::string line; std::getline(lines, line);) {
      if (display_width(line) > terminal.width) return false;
    }
    return true;
  };
  for (size_t spark = kMostSpark; spark >= kFewestSpark; --spark) {
    table.rows = {side_row(view.canary, true, spark)};
    if (view.baseline) table.rows.push_back(side_row(*view.baseline, false, spark));
    if (!terminal.tty || fits()) break;
  }
  return table;
}

std::string labelled(const std::string& label, const std::string& text, const Terminal& terminal) {
  const size_t width = terminal.tty ? std::max<size_t>(terminal.width, 40) : 110;
  std::string wrapped = wrap_text(printable(text), width - 10, 0);
  std::string out = terminal.paint(Style::heading, label) + std::string(10 - label.size(), ' ');
  for (char c : wrapped) out += c == '\n' ? std::string("\n          ") : std::string(1, c);
  return out + "\n";
}

Style style_of_verdict(judge::Outcome outcome) {
  return outcome == judge::Outcome::healthy     ? Style::good
         : outcome == judge::Outcome::unhealthy ? Style::bad
                                                : Style::warning;
}

}  // namespace

Style style_of(RolloutStatus status) {
  switch (status) {
    case RolloutStatus::complete:
    case RolloutStatus::watching:
      return Style::good;
    case RolloutStatus::aborted:
    case RolloutStatus::stuck:
    case RolloutStatus::returning:
      return Style::bad;
    case RolloutStatus::paused:
    case RolloutStatus::superseded:
      return Style::warning;
    case RolloutStatus::queued:
    case RolloutStatus::due:
      return Style::faint;
    case RolloutStatus::running:
      return Style::accent;
  }
  return Style::plain;
}

std::string sparkline(const std::vector<double>& values, size_t width) {
  static constexpr const char* kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const size_t from = values.size() > width ? values.size() - width : 0;
  double most = 0;
  for (size_t i = from; i < values.size(); ++i) most = std::max(most, values[i]);
  std::string line;
  for (size_t i = from; i < values.size(); ++i) {
    const double share = most > 0 ? values[i] / most : 0;
    line += kBars[std::min<size_t>(static_cast<size_t>(share * 7.999), 7)];
  }
  return line;
}

std::string picture_of(const views::RolloutView& view, const Terminal& terminal) {
  const std::string status(to_json(view.status).as_string());
  const Style style = style_of(view.status);
  std::string text = terminal.paint(style, std::string(mark_of(view.status)) + " " + status) + "  " +
                     terminal.paint(Style::strong, view.canary.name) +
                     (view.baseline ? " ← " + view.baseline->name : "") + "  " + view.strategy + ", step " +
                     std::to_string(view.step) + " of " + std::to_string(view.steps.size()) + "  " + view.environment +
                     "  " + age(view) + "\n";
  text += terminal.paint(Style::faint, "  " + view.rollout + (view.group.empty() ? "" : "  group " + view.group) +
                                           (view.attempt > 1 ? "  attempt " + std::to_string(view.attempt) : "")) +
          "\n\n";
  text += "  " + weight_bar(view.weight_asked_bps, 40, terminal) + "  asked " + percent(view.weight_asked_bps) +
          "  obeyed " + (view.weight_obeyed_bps ? percent(*view.weight_obeyed_bps) : "-") + "  actual " +
          (view.weight_actual_bps ? judge::share_text(static_cast<double>(*view.weight_actual_bps) / 10'000) : "-") +
          "\n  " + steps_line(view, terminal);
  if (view.seconds_left.value_or(0) > 0) {
    text += terminal.paint(Style::faint, "   " + print_duration(std::chrono::seconds(*view.seconds_left)) + " left");
  }
  text += "\n\n";
  text += render(sides_of(view, terminal), terminal) + "\n";
  if (view.verdict) {
    const std::string word(to_json(view.verdict->verdict).as_string());
    text += labelled("judge", view.verdict->sentence, terminal);
    text += "          " + terminal.paint(style_of_verdict(view.verdict->verdict), word) + "\n";
  }
  if (!view.waits_for.empty() && (!view.verdict || view.waits_for != view.verdict->sentence)) {
    text += labelled(view.ended_at ? "because" : "now", view.waits_for, terminal);
  }
  std::string routers;
  for (const views::RolloutRouter& each : view.routers) {
    routers += (routers.empty() ? "" : ", ") + each.name +
               (each.obeys             ? " obeys"
                : each.trouble.empty() ? " is behind"
                                       : ": " + each.trouble);
  }
  // After the end only what is not as it should be.
  if (!view.ended_at || !std::ranges::all_of(view.routers, &views::RolloutRouter::obeys)) {
    text += labelled("routers", routers.empty() ? "none" : routers, terminal);
  }
  return text;
}

std::string line_of(const views::RolloutView& view) {
  std::string line = view.canary.name + " " + std::string(to_json(view.status).as_string()) + ", step " +
                     std::to_string(view.step) + " of " + std::to_string(view.steps.size()) + ", " +
                     percent(view.weight_asked_bps);
  const bool said = view.status == RolloutStatus::paused || view.status == RolloutStatus::returning || view.ended_at;
  if (said && !view.reason.empty()) line += ": " + view.reason;
  return line;
}

}  // namespace sluice::cli
