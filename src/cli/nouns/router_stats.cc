// The watch has a screen of its own, as pagers do, so that what stood in the terminal is there again afterwards.
#include "cli/nouns/router_stats.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdio>

#include "base/basis_points.h"
#include "base/clock.h"
#include "base/json_reader.h"
#include "base/table.h"
#include "cli/command_door.h"
#include "host/kit_watch.h"
#include "host/status_view.h"
#include "router/report.h"

namespace sluice::cli {
namespace {

using ::sluice::router::Counts;

constexpr std::string_view kEnterScreen = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeaveScreen = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearLine = "\x1b[K";
constexpr std::string_view kClearRest = "\x1b[J";
constexpr size_t kUsualLines = 24;
constexpr size_t kShortId = 8;  // as much of an id as commands take for it
constexpr int64_t kNamesAgain_ms = 5'000;

int64_t count_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->get_int64();
  return value->is_uint64() ? static_cast<int64_t>(value->get_uint64()) : 0;
}

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

const json::object& object_in(const json::object& object, std::string_view name) {
  static const json::object kNone;
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_object() ? value->get_object() : kNone;
}

const json::array& array_in(const json::object& object, std::string_view name) {
  static const json::array kNone;
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_array() ? value->get_array() : kNone;
}

RevisionSeen revision_seen(const json::object& deployment, const json::object& revision) {
  RevisionSeen seen{.deployment = text_in(deployment, "id"),
                    .revision = text_in(revision, "id"),
                    .paused = text_in(deployment, "status") == "paused",
                    .draining = text_in(revision, "state") == "draining",
                    .weight_bps = count_in(revision, "weight_bps"),
                    .in_flight = count_in(revision, "in_flight"),
                    .websockets = count_in(revision, "websockets"),
                    .replicas = array_in(revision, "replicas").size()};
  for (const json::value& each : array_in(revision, "replicas")) {
    const json::value* ejected = each.is_object() ? each.get_object().if_contains("ejected") : nullptr;
    seen.ejected += ejected != nullptr && ejected->is_bool() && ejected->get_bool() ? 1 : 0;
  }
  auto number = [](int64_t count) { return static_cast<uint64_t>(std::max<int64_t>(count, 0)); };
  seen.counts.requests = number(count_in(revision, "requests"));
  const json::object& status = object_in(revision, "status");
  for (size_t i = 0; i < seen.counts.classes.size(); ++i) {
    seen.counts.classes[i] = number(count_in(status, std::to_string(i + 1) + "xx"));
  }
  const json::array& latencies = array_in(revision, "latency_counts");
  for (size_t i = 0; i < std::min(latencies.size(), seen.counts.latencies.size()); ++i) {
    if (latencies[i].is_int64()) seen.counts.latencies[i] = number(latencies[i].get_int64());
  }
  return seen;
}

// What came since; counters that began anew count from nothing.
Counts since(const Counts& now, const Counts& before) {
  if (now.requests < before.requests) return now;
  Counts grown = now;
  grown.requests -= before.requests;
  for (size_t i = 0; i < grown.classes.size(); ++i) grown.classes[i] -= std::min(before.classes[i], grown.classes[i]);
  for (size_t i = 0; i < grown.latencies.size(); ++i) {
    grown.latencies[i] -= std::min(before.latencies[i], grown.latencies[i]);
  }
  return grown;
}

std::string printed(const char* format, double number) {
  char text[32];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

std::string rate_text(double per_second) { return printed(per_second < 100 ? "%.1f" : "%.0f", per_second); }

std::string latency_text(const Counts& counts, double share) {
  if (counts.requests == 0) return "-";
  auto latency_us = static_cast<double>(::sluice::router::latency_at(counts, share));
  if (latency_us < 1'000) return printed("%.0fus", latency_us);
  if (latency_us < 10'000) return printed("%.1fms", latency_us / 1'000);
  if (latency_us < 1'000'000) return printed("%.0fms", latency_us / 1'000);
  return printed("%.1fs", latency_us / 1'000'000);
}

// Of so many requests of the deployment; to a tenth of a percent.
std::string share_text(uint64_t own, uint64_t all) {
  if (all == 0) return "-";
  return print_basis_points(
      static_cast<int>(std::lround(1'000.0 * static_cast<double>(own) / static_cast<double>(all))) * 10);
}

// An id that nobody has a name for: on a terminal as much of it as commands take.
std::string id_text(const std::string& id, const Terminal& terminal) {
  return terminal.tty && id.size() > 2 * kShortId ? id.substr(id.size() - kShortId) : id;
}

// What a row tells of its revision besides how it is.
struct Passed {
  Counts counts;
  bool failing = false;  // errors came in the last interval
};

Table table_of(const RouterSeen& now, const std::vector<Passed>& passed, const NamesOfRevisions& names,
               const Terminal& terminal, const std::string& amount_title,
               const std::function<std::string(const Counts&)>& amount) {
  Table table{.columns = {{"DEPLOYMENT"},
                          {"REVISION"},
                          {"WEIGHT", Align::right},
                          {"SHARE", Align::right},
                          {amount_title, Align::right},
                          {"FLIGHT", Align::right},
                          {"WS", Align::right},
                          {"4XX", Align::right},
                          {"5XX", Align::right},
                          {"P50", Align::right},
                          {"P99", Align::right},
                          {"REPLICAS", Align::right}},
              .empty = "No deployments yet."};
  std::map<std::string, uint64_t> of_deployment;
  for (size_t i = 0; i < passed.size(); ++i) of_deployment[now.revisions[i].deployment] += passed[i].counts.requests;
  for (size_t i = 0; i < passed.size(); ++i) {
    const RevisionSeen& each = now.revisions[i];
    const Counts& counts = passed[i].counts;
    auto known = names.find(each.revision);
    std::string deployment = known != names.end() ? known->second.deployment : id_text(each.deployment, terminal);
    if (each.paused) deployment += ", paused";
    const Style quiet = each.weight_bps == 0 ? Style::faint : Style::plain;
    auto number = [](int64_t count) { return Cell{count == 0 ? "-" : std::to_string(count)}; };
    const auto able = std::to_string(each.replicas - each.ejected);
    table.rows.push_back(
        {{deployment, quiet},
         {known != names.end() ? known->second.revision : id_text(each.revision, terminal), quiet},
         {each.draining ? "draining" : print_basis_points(static_cast<int>(each.weight_bps)), quiet},
         {share_text(counts.requests, of_deployment[each.deployment])},
         {amount(counts)},
         number(each.in_flight),
         number(each.websockets),
         number(static_cast<int64_t>(each.counts.classes[3])),
         {number(static_cast<int64_t>(each.counts.classes[4])).text, passed[i].failing ? Style::bad : Style::plain},
         {latency_text(counts, 0.5)},
         {latency_text(counts, 0.99)},
         {each.ejected == 0 ? able : able + " of " + std::to_string(each.replicas),
          each.ejected == 0 ? Style::plain : Style::bad}});
  }
  return table;
}

std::string heading(const RouterSeen& now) {
  auto counted = [](int64_t number, const std::string& what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  std::string text = "generation " + std::to_string(now.generation) + ", " + counted(now.connections, "connection") +
                     ", " + counted(now.threads, "thread") + "\n";
  for (const std::string& each : now.quarantined) text += "quarantined: " + printable(each) + "\n";
  if (!now.counters_error.empty()) {
    text += "counters: in memory, and lost when the router ends: " + printable(now.counters_error) + "\n";
  }
  if (!now.state_error.empty()) text += "table: not kept on disk: " + printable(now.state_error) + "\n";
  return text;
}

size_t lines_of_screen() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : kUsualLines;
}

}  // namespace

RouterSeen seen_in(const json::object& stats) {
  RouterSeen seen{.generation = count_in(stats, "generation"),
                  .connections = count_in(stats, "connections"),
                  .threads = count_in(stats, "threads"),
                  .counters_error = text_in(object_in(stats, "counters"), "error"),
                  .state_error = text_in(object_in(stats, "state"), "error")};
  for (const json::value& each : array_in(stats, "quarantined")) {
    if (!each.is_object()) continue;
    seen.quarantined.push_back(text_in(each.get_object(), "deployment") + ", " + text_in(each.get_object(), "reason"));
  }
  for (const json::value& deployment : array_in(stats, "deployments")) {
    if (!deployment.is_object()) continue;
    for (const json::value& revision : array_in(deployment.get_object(), "revisions")) {
      if (revision.is_object()) {
        seen.revisions.push_back(revision_seen(deployment.get_object(), revision.get_object()));
      }
    }
  }
  return seen;
}

NamesOfRevisions names_of_revisions(Context& context) {
  NamesOfRevisions names;
  auto door = CommandDoor::open_any(context);
  auto answer = door ? (*door)->look("status") : Result<host::ViewAnswer>(door.error());
  auto status = answer ? read<host::StatusDocument>(answer->document) : Result<host::StatusDocument>(answer.error());
  if (!status || !status->environments) return names;  // a router that obeys a file alone has no names
  std::map<std::string, int> deployed;                 // how often, by bundle
  for (const auto& environment : *status->environments) {
    for (const auto& each : environment.deployments) deployed[each.bundle]++;
  }
  for (const auto& environment : *status->environments) {
    for (const auto& each : environment.deployments) {
      const std::string called = deployed[each.bundle] > 1 ? each.bundle + " for " + each.customer : each.bundle;
      for (const auto& revision : each.revisions) names[revision.revision] = {called, revision.name};
    }
  }
  return names;
}

std::string stats_text(const RouterSeen& now, const NamesOfRevisions& names, const Terminal& terminal) {
  std::vector<Passed> passed;
  for (const RevisionSeen& each : now.revisions) passed.push_back({.counts = each.counts});
  return heading(now) + render(table_of(now, passed, names, terminal, "REQUESTS",
                                        [](const Counts& counts) { return std::to_string(counts.requests); }),
                               terminal);
}

std::string live_text(const RouterSeen& now, const Interval& interval, const NamesOfRevisions& names,
                      const Terminal& terminal) {
  std::map<std::pair<std::string, std::string>, const Counts*> before;
  if (interval.before != nullptr) {
    for (const RevisionSeen& each : interval.before->revisions) {
      before[{each.deployment, each.revision}] = &each.counts;
    }
  }
  std::vector<Passed> passed;
  for (const RevisionSeen& each : now.revisions) {
    auto known = before.find({each.deployment, each.revision});
    Counts grown = known != before.end()        ? since(each.counts, *known->second)
                   : interval.before != nullptr ? each.counts
                                                : Counts{};
    passed.push_back({.counts = grown, .failing = grown.classes[4] > 0});
  }
  return heading(now) + render(table_of(now, passed, names, terminal, "REQ/S",
                                        [&](const Counts& counts) {
                                          return interval.seconds > 0 ? rate_text(static_cast<double>(counts.requests) /
                                                                                  interval.seconds)
                                                                      : std::string("-");
                                        }),
                               terminal);
}

std::string over_screen(const std::string& text, size_t lines) {
  size_t all = static_cast<size_t>(std::ranges::count(text, '\n'));
  const size_t most = std::max<size_t>(lines, 3) - 1;  // the line behind the last stays on the screen
  std::string drawn(kHome);
  size_t at = 0;
  for (size_t line = 0; line < std::min(all, all > most ? most - 1 : most); ++line) {
    size_t end = text.find('\n', at);
    drawn += text.substr(at, end - at) + std::string(kClearLine) + "\n";
    at = end + 1;
  }
  if (all > most) drawn += "… " + std::to_string(all - most + 1) + " more" + std::string(kClearLine) + "\n";
  return drawn + std::string(kClearRest);
}

Result<Code> watch_router(Context& context, const std::string& name, int64_t interval_ms, const LookAtRouter& look) {
  RealClock clock;
  auto first = look();
  if (!first) return first.error();
  const host::StopSignal stop;
  NamesOfRevisions names;
  int64_t named_ns = -kNamesAgain_ms * 1'000'000;
  RouterSeen before;
  RouterSeen now = seen_in(*first);
  int64_t before_ns = 0;
  std::string trouble;
  std::string text;
  context.output.print_text(kEnterScreen);
  for (;;) {
    const int64_t now_ns = clock.monotonic_ns();
    const bool unknown =
        std::ranges::any_of(now.revisions, [&](const RevisionSeen& each) { return !names.contains(each.revision); });
    if (unknown && now_ns - named_ns >= kNamesAgain_ms * 1'000'000) {
      names = names_of_revisions(context);
      named_ns = now_ns;
    }
    Terminal terminal = detect_terminal(STDOUT_FILENO, context.variables, !context.output.settings().out.color);
    if (trouble.empty()) {
      const Interval interval{before_ns != 0 ? &before : nullptr, static_cast<double>(now_ns - before_ns) / 1e9};
      text = live_text(now, before_ns != 0 ? interval : Interval{}, names, terminal);
      before = now;
      before_ns = now_ns;
    }
    const std::string title = terminal.paint(Style::strong, "router " + name) + ", Ctrl-C ends it\n";
    context.output.print_text(over_screen(
        title + (trouble.empty() ? "" : terminal.paint(Style::bad, trouble) + "\n") + text, lines_of_screen()));
    if (!context.output.flush()) break;
    pollfd stopped{.fd = stop.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&stopped, 1, static_cast<int>(interval_ms)) > 0) break;
    auto stats = look();
    trouble = stats ? "" : "it does not answer, and is asked again: " + printable(stats.error().message);
    if (stats) now = seen_in(*stats);
  }
  context.output.print_text(kLeaveScreen);
  context.output.print_text("router " + name + "\n" + text);
  return Code::ok;
}

}  // namespace sluice::cli
