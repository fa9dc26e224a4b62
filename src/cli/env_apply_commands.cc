// sluice env export and apply: an environment as a file, and the other way round.
#include <algorithm>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/yaml.h"
#include "base/yaml_emit.h"
#include "cli/all_commands.h"
#include "cli/objects.h"
#include "deploy/views/environment_plan.h"
#include "deploy/views/names.h"

namespace sluice::cli {
namespace env_apply_commands {

namespace views = deploy::views;
constexpr size_t kMaxFile = size_t{4} << 20U;

Result<Code> export_env(Context& context) {
  auto objects = Objects::to_read(context);
  if (!objects) return objects.error();
  auto found = views::find_environment((*objects)->states(), context.given.text("env"));
  if (!found) return found.error();
  json::object document = views::exported_environment((*objects)->states(), *found);
  context.output.print(document, [&](const Terminal&) { return emit_yaml(document); });
  return Code::ok;
}

json::array json_of(const views::EnvironmentPlan& plan) {
  json::array changes;
  for (const views::PlannedChange& each : plan.changes) {
    changes.push_back(json::object{
        {"change", std::string(1, each.sign)}, {"what", each.what}, {"action", each.action}, {"input", each.input}});
  }
  return changes;
}

std::string text_of(const views::EnvironmentPlan& plan, const Terminal& terminal) {
  std::string text;
  for (const views::PlannedChange& each : plan.changes) {
    Style style = each.sign == '+' ? Style::good : each.sign == '-' ? Style::bad : Style::warning;
    text += terminal.paint(style, std::string(1, each.sign)) + " " + printable(each.what) + "\n";
  }
  return text;
}

Result<Code> apply(Context& context) {
  const std::string name = context.given.text("file");
  auto text = read_file(context.disk, name, kMaxFile);
  if (!text) return text.error();
  auto file = parse_yaml(*text, name);
  if (!file) return file.error();
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto plan = views::plan_environment((*objects)->states(), *file, context.given.flag("prune"));
  if (!plan) return plan.error();
  size_t count = plan->changes.size();
  bool only_planned = context.given.flag("dry-run") || context.given.flag("exit-code");
  context.output.print(json::object{{"environment", plan->environment}, {"changes", json_of(*plan)}},
                       [&](const Terminal& terminal) { return text_of(*plan, terminal); });
  if (count == 0) {
    context.output.note(plan->environment + " is as " + name + " says");
    return Code::ok;
  }
  if (only_planned) {
    context.output.note(std::to_string(count) + " to change; nothing was changed");
    return context.given.flag("exit-code") ? Code::changes_pending : Code::ok;
  }
  bool loses = std::ranges::any_of(plan->changes, [](const auto& each) { return each.sign == '-'; });
  if (loses) {
    auto sure = confirmed(context, "take away what " + name + " does not have from " + plan->environment);
    if (!sure) return sure.error();
    if (!*sure) return Code::ok;
  }
  for (size_t i = 0; i < count; ++i) {
    const views::PlannedChange& each = plan->changes[i];
    auto answer = (*objects)->change(each.action, each.input, i == 0 ? "" : "apply" + std::to_string(i));
    if (!answer) return answer.error();
    if (answer->code == Code::ok) continue;
    Error error = refusal_in_words(*answer);
    error.message = "'" + each.what + "' was refused: " + error.message + "; " + std::to_string(i) + " of " +
                    std::to_string(count) + " changes were made";
    return error;
  }
  context.output.note(std::to_string(count) + (count == 1 ? " change" : " changes") + " made");
  return Code::ok;
}

}  // namespace env_apply_commands

void add_env_apply_commands(Commands& commands) {
  using namespace env_apply_commands;
  commands.add({.name = "env export",
                .summary = "Print an environment as a file that can be applied again",
                .args = {environment_arg()},
                .options = reading_options(),
                .example = "sluice env export local",
                .run = export_env});
  std::vector<Option> options = {{.name = "file",
                                  .letter = 'f',
                                  .value = "FILE",
                                  .help = "the environment, as env export prints it",
                                  .kind = Kind::path},
                                 {.name = "prune", .help = "take away what the file does not have"},
                                 {.name = "exit-code", .help = "only plan; exit with 3 if there are changes"},
                                 {.name = "dry-run", .help = "only plan"},
                                 {.name = "yes", .letter = 'y', .help = "do not ask"}};
  for (Option& each : call_options()) options.push_back(std::move(each));
  commands.add({.name = "env apply",
                .summary = "Make an environment what a file says",
                .details = "Says first what it will change: + made, ~ changed, - taken away. The file is a "
                           "sluice.environment.v1; generations, times, revisions and splits in it count for nothing.",
                .options = std::move(options),
                .example = "sluice env apply --help",
                .run = apply});
}

}  // namespace sluice::cli
