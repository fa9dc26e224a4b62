// A line each.
#include "cli/nouns/status_tree.h"

#include <boost/json.hpp>

#include "base/basis_points.h"
#include "base/tree.h"
#include "cli/nouns/rollout_picture.h"
#include "deploy/concepts/revision/lifecycle.h"
#include "host/background.h"

namespace sluice::cli {
namespace {

constexpr size_t kColumns = 80, kIndent = 3;  // of a screen; of a level of the tree

std::string bps(int64_t weight) { return print_basis_points(static_cast<int>(weight)); }

std::string counted(int64_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

// A line, or two if one would be wider than a screen.
void add_line(std::vector<TreeLine>& lines, size_t depth, const std::string& head, const std::string& between,
              const std::string& rest, Style style = Style::plain) {
  const std::string whole = head + between + rest;
  if (depth * kIndent + display_width(whole) <= kColumns) {
    lines.push_back({depth, whole, style});
    return;
  }
  lines.push_back({depth, head, style});
  lines.push_back({depth + 1, rest, style});
}

void add_replica(std::vector<TreeLine>& lines, const host::StatusReplica& replica) {
  add_line(lines, 3, replica.address + (replica.pid ? ", pid " + std::to_string(*replica.pid) : ", not running"), ", ",
           (replica.healthy ? "healthy, " : "unhealthy, ") + counted(replica.restarts, "restart"),
           replica.healthy ? Style::plain : Style::bad);
}

void add_revision(std::vector<TreeLine>& lines, const host::StatusRevision& revision) {
  std::string head = revision.name + " " + std::string(deploy::revision::name_of(revision.lifecycle));
  std::string rest;
  using enum deploy::revision::RevisionLifecycle;
  if (!revision.weight_obeyed_bps) {
    const bool gave_up = revision.lifecycle == failed && revision.weight_asked_bps == 0;
    if (!gave_up) rest = "asked " + bps(revision.weight_asked_bps) + ", no router serves it yet";
  } else {
    const bool obeyed = *revision.weight_obeyed_bps == revision.weight_asked_bps;
    head += obeyed ? ", gets " + bps(revision.weight_asked_bps)
                   : ", asked " + bps(revision.weight_asked_bps) + ", obeyed " + bps(*revision.weight_obeyed_bps);
    rest = counted(revision.requests, "request") + ", " + std::to_string(revision.in_flight + revision.websockets) +
           " under way";
  }
  add_line(lines, 2, head, rest.empty() ? "" : ", ", rest,
           revision.lifecycle == ready    ? Style::good
           : revision.lifecycle == failed ? Style::bad
                                          : Style::plain);
  for (const host::StatusReplica& each : revision.replicas) add_replica(lines, each);
}

void add_rollout(std::vector<TreeLine>& lines, const deploy::views::RolloutView& rollout) {
  lines.push_back({2, "rollout of " + line_of(rollout), style_of(rollout.status)});
  if (rollout.verdict) {
    const std::string verdict(to_json(rollout.verdict->verdict).as_string());
    lines.push_back({3, verdict + ": " + rollout.verdict->sentence});
  }
}

void add_environment(std::vector<TreeLine>& lines, const host::StatusEnvironment& environment,
                     const std::vector<deploy::views::RolloutView>& rollouts, bool served) {
  if (environment.routers.empty()) lines.push_back({0, environment.environment + ", no router"});
  std::string head = environment.environment;
  for (const host::StatusRouter& each : environment.routers) {
    std::string text = "router " + each.name;
    // Without a control plane one command brings everything back.
    if (!each.running && each.machine) text += " is not linked";
    if (!each.running && !each.machine)
      text += " does not run" + (served ? "; next: " + host::command_to_run_router(each.name) : "");
    for (const std::string& address : each.listen) text += " " + address;
    if (each.machine) text += " on " + *each.machine + ", certificate " + certificate_words(each.certificate_s);
    if (each.pid) text += " pid " + std::to_string(*each.pid);
    // Each router has a line: the first stands beside its environment.
    if (head.empty()) {
      lines.push_back({1, text});
    } else {
      add_line(lines, 0, head, ", ", text);
    }
    head.clear();
  }
  for (const host::StatusDeployment& each : environment.deployments) {
    add_line(lines, 1, each.bundle + " for " + each.customer + (each.status == "paused" ? ", paused" : ""), " ",
             "(" + each.deployment + ")");
    for (const deploy::views::RolloutView& rollout : rollouts) {
      if (rollout.deployment == each.deployment) add_rollout(lines, rollout);
    }
    for (const host::StatusRevision& revision : each.revisions) add_revision(lines, revision);
  }
}

}  // namespace

std::string certificate_words(const OrNull<int64_t>& left_s) {
  constexpr int64_t kHour_s = 3'600, kDay_s = 24 * kHour_s;
  if (!left_s) return "";
  if (*left_s < 0) return "ended";
  return *left_s < 2 * kDay_s ? std::to_string(*left_s / kHour_s) + " h" : std::to_string(*left_s / kDay_s) + " d";
}

std::string status_tree(const host::StatusDocument& status, const Terminal& terminal,
                        const std::vector<deploy::views::RolloutView>& rollouts, bool served) {
  std::vector<TreeLine> lines;
  if (status.environments) {
    for (const host::StatusEnvironment& each : *status.environments) add_environment(lines, each, rollouts, served);
  }
  std::string text = lines.empty() ? "" : render(lines, terminal);
  if (status.clock) {
    text +=
        terminal.paint(Style::warning, "clock") + "  " + status.clock->what + "\nnext:  " + status.clock->next + "\n";
  }
  return text;
}

}  // namespace sluice::cli
