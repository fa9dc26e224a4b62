// sluice completion: the scripts that make shells complete sluice's words, and the names that those scripts ask for.
#include <set>

#include "cli/all_commands.h"
#include "cli/command_door.h"
#include "cli/completion.h"
#include "cli/context.h"
#include "cli/opening.h"
#include "deploy/views/objects.h"
#include "host/flows/flow_views.h"

namespace sluice::cli {
namespace completion_commands {

namespace views = deploy::views;

void add_deployed(CommandDoor& door, const std::string& environment, const std::string& kind,
                  std::set<std::string>& names) {
  const bool revisions = kind == "revisions" || kind == "things";
  if (kind != "revisions") {
    auto all = door.read<std::vector<views::DeploymentDocument>>("deployments", {{"environment", environment}});
    for (const auto& each : all ? *all : std::vector<views::DeploymentDocument>()) {
      names.insert(kind == "deployments" ? each.deployment_id
                   : kind == "customers" ? each.customer_id
                                         : each.bundle_id);
    }
  }
  if (!revisions) return;
  auto all = door.read<std::vector<views::RevisionDocument>>("revisions", {{"environment", environment}});
  for (const auto& each : all ? *all : std::vector<views::RevisionDocument>()) {
    names.insert(each.bundle_id + "@" + std::to_string(each.sequence));
  }
}

// A shell that asks is not to be told of failures: it offers what there is.
Result<Code> tell_names(Context& context, const std::string& kind) {
  if (kind.empty()) return Error{.code = Code::usage, .message = "<kind> is missing: the kind of names"};
  std::set<std::string> names;
  auto home = home_of(context);
  if (!home) return Code::ok;
  // Asking makes nothing.
  if (auto store = context.disk.exists((home->root() / "store").string()); !store || !*store) return Code::ok;
  auto opened = CommandDoor::open(context);
  if (!opened) return Code::ok;
  CommandDoor& door = **opened;
  if (kind == "flows") {
    auto flows = door.read<std::vector<host::ListedFlow>>("flows", {{"limit", 20}});
    for (const auto& each : flows ? *flows : std::vector<host::ListedFlow>()) names.insert(each.flow);
    names.insert("latest");
  } else {
    auto environments = door.read<std::vector<views::ListedEnvironment>>("environments");
    for (const auto& each : environments ? *environments : std::vector<views::ListedEnvironment>()) {
      if (kind == "environments") names.insert(each.environment_id);
      if (kind != "environments") add_deployed(door, each.environment_id, kind, names);
    }
  }
  for (const std::string& each : names) context.output.print_text(printable(each) + "\n");
  return Code::ok;
}

Result<Code> completion(Context& context) {
  const std::string shell = context.given.text("shell");
  if (shell == "names") return tell_names(context, context.given.text("kind"));
  if (context.given.has("kind")) {
    return Error{.code = Code::usage, .message = "a kind of names is for sluice completion names"};
  }
  context.output.print_text(shell == "bash"  ? bash_completion(context.commands)
                            : shell == "zsh" ? zsh_completion(context.commands)
                                             : fish_completion(context.commands));
  return Code::ok;
}

}  // namespace completion_commands

void add_completion_commands(Commands& commands) {
  using namespace completion_commands;
  commands.add(
      {.name = "completion",
       .group = Group::learn,
       .summary = "Print the script that completes commands in a shell",
       .details = "bash: add to ~/.bashrc: source <(sluice completion bash)\n"
                  "zsh: add to ~/.zshrc, after compinit: source <(sluice completion zsh)\n"
                  "fish: sluice completion fish > ~/.config/fish/completions/sluice.fish\n\n"
                  "The scripts also complete what the home has: environments, bundles, deployments, revisions, "
                  "customers and flows. They ask for it with `sluice completion names KIND`.",
       .args = {{.name = "shell", .help = "the shell, or names", .choices = {"bash", "zsh", "fish", "names"}},
                {.name = "kind", .help = "the kind of names", .choices = completion_kinds(), .optional = true}},
       .options = {lock_timeout_option()},
       .example = "sluice completion bash",
       .run = completion});
}

}  // namespace sluice::cli
