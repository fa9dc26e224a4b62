// sluice env export and apply: an environment as a file, and the other way round.
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/yaml.h"
#include "base/yaml_emit.h"
#include "bundle/archive/inspect.h"
#include "cli/all_commands.h"
#include "cli/losing.h"
#include "cli/objects.h"
#include "cli/output_shapes.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "deploy/views/environment_plan.h"
#include "deploy/views/names.h"

namespace sluice::cli {
namespace env_apply_commands {

namespace views = deploy::views;
constexpr size_t kMaxFile = size_t{4} << 20U;

Result<Code> export_env(Context& context) {
  auto objects = Objects::to_read(context);
  if (!objects) return objects.error();
  auto found = (*objects)->environment();
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

// The file of --file, or of --answers, which mean the same here.
Result<std::string> file_given(const Context& context) {
  const bool file = context.given.has("file"), answers = context.given.has("answers");
  if (file != answers) return context.given.text(file ? "file" : "answers");
  return Error{.code = Code::usage,
               .message = file ? "--file and --answers are the same; give one" : "say which file",
               .next = "sluice env apply -f env.yaml"};
}

// Archives are looked at before anything is changed. Their paths are from the file's own folder.
Result<void> find_archives(Context& context, const std::string& file, views::EnvironmentPlan& plan) {
  for (views::PlannedChange& each : plan.changes) {
    if (each.action != "Revision/stage") continue;
    const std::string given(each.input.at("source").as_string()), bundle(each.input.at("bundle").as_string());
    std::error_code ignored;
    const std::string path =
        (std::filesystem::absolute(file, ignored).parent_path() / given).lexically_normal().string();
    auto inspected = bundle::inspect_archive(context.disk, path);
    if (!inspected) return inspected.error();
    auto manifest = bundle::manifest_of(*inspected, path);
    if (!manifest) return manifest.error();
    if (manifest->name.text != bundle) {
      return Error{.code = Code::invalid,
                   .message = path + " is the bundle " + manifest->name.text + ", not " + bundle};
    }
    each.input["source"] = path;
  }
  return {};
}

// A plan is of an environment at a generation. Who says which it must be is told by the engine who has changed it.
Result<void> check_generation(const Context& context, Objects& objects, const views::EnvironmentPlan& plan) {
  auto expected = context.given.number("expect-generation");
  if (!expected) return {};
  auto record = objects.states().env().get(deploy::env::EnvId(plan.environment));
  if (record && record->generation == *expected) return {};
  if (!record) {
    return Error{.code = Code::conflict,
                 .message = "there is no environment " + plan.environment + ", so it is at no generation"};
  }
  auto answer = objects.change("Env/update", {{"environment", plan.environment}});
  if (!answer) return answer.error();
  if (answer->code == Code::ok) return {};  // it was there in the meantime
  return refusal_in_words(*answer);
}

// Told apart by what they do: a command that is repeated with its key makes those that it has not made yet.
std::string part_of(const std::string& action, const json::object& input) {
  return crypto::to_hex(crypto::sha256(action + write(input))).substr(0, 16);
}

Result<void> make_changes(Objects& objects, const views::EnvironmentPlan& plan, bool generation) {
  std::string added;
  const size_t count = plan.changes.size();
  for (size_t i = 0; i < count; ++i) {
    const views::PlannedChange& each = plan.changes[i];
    json::object input = each.input;
    if (each.of_added) input["deployment"] = added;
    // --expect-generation is the environment's; the first change of another object has nothing to do with it.
    const bool first = generation && i == 0 && each.action.starts_with("Env/") && each.action != "Env/create";
    auto answer = objects.change(each.action, input, first ? "" : part_of(each.action, input));
    if (!answer) return answer.error();
    if (auto settled = objects.settle(); !settled) return settled.error();
    if (answer->code == Code::ok) {
      if (each.action == "Deployment/add") added = answer->text("deployment");
      continue;
    }
    Error error = refusal_in_words(*answer);
    error.message = "'" + each.what + "' was refused: " + error.message + "; " + std::to_string(i) + " of " +
                    std::to_string(count) + " changes were made";
    return error;
  }
  return {};
}

Result<Code> apply(Context& context) {
  if (context.given.flag("schema")) {
    auto schema = environment_file_schema();
    if (!schema) return schema.error();
    context.output.print_text(write_pretty(*schema));
    return Code::ok;
  }
  auto name = file_given(context);
  if (!name) return name.error();
  auto text = read_file(context.disk, *name, kMaxFile);
  if (!text) return text.error();
  auto file = parse_yaml(*text, *name);
  if (!file) return file.error();
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto plan = views::plan_environment((*objects)->states(), *file, context.given.flag("prune"));
  if (!plan) return plan.error();
  if (auto found = find_archives(context, *name, *plan); !found) return found.error();
  size_t count = plan->changes.size();
  bool only_planned = context.given.flag("dry-run") || context.given.flag("exit-code");
  context.output.print(json::object{{"environment", plan->environment}, {"changes", json_of(*plan)}},
                       [&](const Terminal& terminal) { return text_of(*plan, terminal); });
  if (count == 0) {
    context.output.note(plan->environment + " is as " + *name + " says");
    return Code::ok;
  }
  if (only_planned) {
    context.output.note(std::to_string(count) + " to change; nothing was changed");
    return context.given.flag("exit-code") ? Code::changes_pending : Code::ok;
  }
  if (auto same = check_generation(context, **objects, *plan); !same) return same.error();
  bool loses = std::ranges::any_of(plan->changes, [](const auto& each) { return each.sign == '-'; });
  if (loses) {
    auto sure = confirmed(context, "take away what " + *name + " does not have from " + plan->environment);
    if (!sure) return sure.error();
    if (!*sure) return Code::ok;
  }
  if (auto made = make_changes(**objects, *plan, context.given.has("expect-generation")); !made) return made.error();
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
  commands.add(
      {.name = "env apply",
       .summary = "Make an environment what a file says",
       .details = "Says first what it will change: + made, ~ changed, - taken away. The file is a "
                  "sluice.environment.v1; generations, times and splits in it count for nothing. A bundle "
                  "that is not deployed is added and staged from its bundle_source_uri. --answers is --file, "
                  "and --schema prints what both take.",
       .options = losing_options({{.name = "file",
                                   .letter = 'f',
                                   .value = "FILE",
                                   .help = "the environment, as env export prints it",
                                   .kind = Kind::path},
                                  {.name = "prune", .help = "take away what the file does not have"},
                                  {.name = "exit-code", .help = "only plan; exit with 3 if there are changes"}}),
       .example = "sluice env apply -f env.yaml",
       .run = apply});
}

}  // namespace sluice::cli
