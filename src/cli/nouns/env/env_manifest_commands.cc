// sluice env resolve, diff and promote: what a deploy manifest says of an environment, and how a version moves from one
// to the next.
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/yaml_emit.h"
#include "cli/all_commands.h"
#include "cli/command_door.h"
#include "cli/deploy_build.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "cli/plan_text.h"
#include "deploy/views/plans.h"

namespace sluice::cli {
namespace env_manifest_commands {

namespace views = deploy::views;

// Puts the text of --manifest into the input.
Result<void> add_manifest(Context& context, json::object& input) {
  if (!context.given.has("manifest")) return {};
  auto path = manifest_path(context, context.given.text("manifest"));
  auto text = path ? read_file(context.disk, *path, plan::kMaxManifestBytes) : path.error();
  if (!text) return text.error();
  input["manifest"] = *text;
  input["file"] = *path;
  return {};
}

// With every fault on a line of its own.
Error refusal(const Context& context, const host::Answer& answer) {
  Error error = refusal_in_words(context, answer);
  for (const char* field : {"errors", "conflicts", "reasons"}) {
    const auto lines = answer.texts(field);
    if (lines.empty()) continue;
    error.message = answer.text("details").empty() ? "the manifest is not valid for " + answer.text("environment")
                                                   : answer.text("details");
    for (const std::string& each : lines) error.message += "\n  " + each;
  }
  return error;
}

Result<host::Answer> ask(Context& context, const std::string& action, json::object input) {
  if (auto added = add_manifest(context, input); !added) return added.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = (*door)->call(action, input);
  if (answer && answer->code != Code::ok) return refusal(context, *answer);
  return answer;
}

Result<Code> resolve(Context& context) {
  auto answer = ask(context, "Env/resolve", {{"environment", context.given.text("env")}});
  if (!answer) return answer.error();
  auto manifest = parse_json(answer->text("resolved"), "resolved");
  if (!manifest) return manifest.error();
  context.output.print(manifest->root, [&](const Terminal&) { return emit_yaml(manifest->root); });
  return Code::ok;
}

Result<Code> diff(Context& context) {
  const std::string a = context.given.text("env"), b = context.given.text("other");
  auto answer = ask(context, "Env/diff", {{"envA", a}, {"envB", b}});
  if (!answer) return answer.error();
  const std::vector<std::string> lines = answer->texts("differences");
  context.output.print(to_json(outputs::Differences{.a = a, .b = b, .differences = lines}), [&](const Terminal&) {
    std::string text;
    for (const std::string& each : lines) text += printable(each) + "\n";
    return text.empty() ? a + " and " + b + " say the same\n" : text;
  });
  return Code::ok;
}

Result<Code> promote(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Env/promote");
  if (!context.given.has("kit")) {
    return Error{.code = Code::usage, .message = "--kit is missing: the kit or app whose version is promoted"};
  }
  const std::string from = context.given.text("env"), to = context.given.text("other");
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto input = with_answers(context, {{"fromEnv", from}, {"toEnv", to}, {"suiteName", context.given.text("kit")}});
  if (!input) return input.error();
  auto answer = (*door)->call("Env/promote", *input, host::WaitFor::answer);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal(context, *answer);
  if (answer->text("plan").empty()) {  // a component, which its pin has moved
    print_done(context, *answer, "promoted",
               context.given.text("kit") + " in " + to + " to " + answer->text("version"));
    return Code::ok;
  }
  context.output.note("promoted " + context.given.text("kit") + " " + answer->text("version") + " from " + from +
                      " to " + to + "; nothing is deployed yet");
  auto plan = (*door)->read<views::PlanDocument>("plan", {{"plan", answer->text("plan")}});
  if (!plan) return plan.error();
  context.output.print(to_json(*plan), [&](const Terminal& terminal) { return plan_tree(*plan, terminal); });
  context.output.note("next: sluice deploy execute " + plan->plan_id);
  return Code::ok;
}

}  // namespace env_manifest_commands

void add_env_manifest_commands(Commands& commands) {
  using namespace env_manifest_commands;
  const Option manifest{.name = "manifest",
                        .value = "FILE",
                        .help = "the manifest; by default the one deployed last",
                        .kind = Kind::path};
  commands.add({.name = "env resolve",
                .summary = "Print a deploy manifest as an environment sees it",
                .details = "All overlays are laid over the rest. Secrets stay references.",
                .args = {{.name = "env", .help = "the environment"}},
                .options = reading_options({manifest}),
                .example = "sluice env resolve local --manifest examples/diamond",
                .run = resolve});
  for (const char* name : {"env diff", "deploy diff"}) {
    commands.add({.name = name,
                  .summary = "Compare what a deploy manifest says of two environments",
                  .details = "By value, with where each value comes from.",
                  .args = {{.name = "env", .help = "an environment"}, {.name = "other", .help = "another one"}},
                  .options = reading_options({manifest}),
                  .example = "sluice " + std::string(name) + " local staging --manifest examples/diamond",
                  .run = diff});
  }
  commands.add(
      {.name = "env promote",
       .summary = "Plan to deploy the version that another environment runs",
       .details = "The version must have been deployed without trouble and answer its health checks. Nothing is "
                  "deployed: a plan for the second environment is made. A component that is pinned is promoted as "
                  "by `sluice promote`.",
       .args = {{.name = "env", .help = "the environment that runs it"},
                {.name = "other", .help = "the environment that gets it"}},
       .options = changing_options({{.name = "kit", .value = "NAME", .help = "a kit or an app of the manifest"}}),
       .example = "sluice env promote staging prod --kit shop",
       .run = promote});
}

}  // namespace sluice::cli
