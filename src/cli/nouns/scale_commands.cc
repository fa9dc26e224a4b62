// sluice scale: how many replicas a deployment runs.
#include <algorithm>
#include <boost/json.hpp>

#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/deployment_name.h"
#include "cli/opening.h"
#include "deploy/views/instances.h"

namespace sluice::cli {
namespace scale_commands {

namespace views = deploy::views;

Result<Code> scale(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Deployment/scale");
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto meant = deployment_named(context, **door);
  if (!meant) return meant.error();
  const int64_t wanted = context.given.number("replicas").value_or(0);
  auto answer =
      (*door)->call("Deployment/scale", {{"deployment", meant->deployment}, {"replicas", wanted}}, host::WaitFor::all);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  auto all = (*door)->read<std::vector<views::InstanceView>>("instances");
  if (!all) return all.error();
  std::string running;
  for (const views::InstanceView& each : *all) {
    if (each.deployment.value_or("") != meant->deployment || !each.ready) continue;
    if (static_cast<int64_t>(each.replicas.size()) != wanted) {
      return Error{.message = each.name + " runs " + host::counted(each.replicas.size(), "replica") + ", not " +
                              std::to_string(wanted) + "; what is warmed later will have so many",
                   .next = "sluice flow trace " + to_string(*answer->flow)};
    }
    running += (running.empty() ? "" : ", ") + each.name;
  }
  print_done(context, *answer, "scaled",
             meant->bundle + " for " + meant->customer + " to " +
                 host::counted(static_cast<size_t>(wanted), "replica") +
                 (running.empty() ? "; nothing of it runs now" : ": " + running));
  return Code::ok;
}

}  // namespace scale_commands

void add_scale_commands(Commands& commands) {
  using namespace scale_commands;
  commands.add(
      {.name = "scale",
       .group = Group::ship,
       .summary = "Run more or fewer replicas of a deployment",
       .details = "Holds for each revision of the deployment that runs, and for those that are warmed later, whatever "
                  "their bundle.yaml says. Replicas that stay are not touched; requests go to a new one when it is "
                  "healthy, and one that goes finishes its requests first.",
       .args = {{.name = "deployment", .help = "the bundle's name, or the deployment's id"},
                {.name = "replicas", .help = "how many of each revision", .kind = Kind::count}},
       .options = changing_options(
           {{.name = "env", .value = "ENV", .help = "the environment", .fallback = "local"}, customer_option()}),
       .example = "sluice scale hello 2",
       .action = "Deployment/scale",
       .params = {{"deployment", "<deployment>"}, {"replicas", "<replicas>"}},
       .run = scale});
}

}  // namespace sluice::cli
