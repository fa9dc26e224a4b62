// sluice watch: what runs, as a tree that redraws itself: environments, deployments with their rollouts, revisions and
// replicas.
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/live_keys.h"
#include "cli/nouns/status_tree.h"

namespace sluice::cli {
namespace watch_commands {

using deploy::views::RolloutView;

constexpr int kRedrawTree_ms = 1'000;

// Without what changes with every request.
host::StatusDocument without_counts(host::StatusDocument status) {
  if (!status.environments) return status;
  for (host::StatusEnvironment& environment : *status.environments) {
    for (host::StatusDeployment& deployment : environment.deployments) {
      for (host::StatusRevision& each : deployment.revisions) each.requests = each.in_flight = each.websockets = 0;
    }
  }
  return status;
}

Result<Code> watch_tree(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const auto& settings = context.output.settings();
  const bool once = context.given.flag("once");
  const bool live = !once && settings.out.tty && settings.format == Format::table &&
                    context.variables("TERM").value_or("dumb") != "dumb";
  const LiveKeys keys(live && settings.in.tty);
  const host::StopSignal stop;
  const json::object where{{"environment", context.given.text("env")}};
  std::string told;
  while (true) {
    auto status = (*door)->read<host::StatusDocument>("status", where);
    if (!status) return status.error();
    auto rollouts = (*door)->read<std::vector<RolloutView>>("rollouts", where);
    if (!rollouts) return rollouts.error();
    if (live) {
      std::string tree = status_tree(*status, settings.out, *rollouts);
      if (tree.empty()) tree = "nothing is deployed; next: sluice up\n";
      if (keys.on()) tree += "\n" + settings.out.paint(Style::faint, "q leaves") + "\n";
      context.output.print_text("\x1b[H\x1b[J" + tree);
      context.output.flush();
    } else {
      const std::string now = status_tree(without_counts(*status), {}, *rollouts);
      if (now != told || once) {
        json::object shown = to_json(*status).as_object();
        shown["rollouts"] = to_json(*rollouts);
        context.output.print_text(settings.format == Format::json ? sluice::write(shown) + "\n"
                                                                  : status_tree(*status, settings.out, *rollouts));
        context.output.flush();
      }
      told = now;
      if (once) return Code::ok;
    }
    if (key_within(stop, keys.on(), kRedrawTree_ms) == 'q') return Code::ok;
  }
}

}  // namespace watch_commands

void add_watch_commands(Commands& commands) {
  commands.add({.name = "watch",
                .group = Group::see,
                .summary = "Watch everything that runs, live",
                .details = "The tree of sluice status with the rollouts that are under way, their steps and the "
                           "judge's verdicts. On a terminal it redraws every second, and q leaves. Without one it "
                           "prints the tree whenever more than counts changes; with -o json a line of JSON.",
                .options = reading_options({{.name = "env", .value = "ENV", .help = "look in this environment only"},
                                            {.name = "once", .help = "print it once and end"}}),
                .example = "sluice watch --once",
                .run = watch_commands::watch_tree});
}

}  // namespace sluice::cli
