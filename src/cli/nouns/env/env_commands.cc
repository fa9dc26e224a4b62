// sluice env: environments, what they are made of and how they are. Each command that changes one is an action of Env.
#include <boost/json.hpp>
#include <filesystem>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/losing.h"
#include "cli/next_command.h"
#include "cli/pack_setup.h"

namespace sluice::cli {
namespace env_commands {

namespace views = deploy::views;
using views::MeantNames;

std::string text_of(const json::value& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? std::string(value.get_string()) : write(value);
}

// Another process may read the list, from another folder.
Result<json::object> changes(Context& context, const MeantNames&) {
  json::object input;
  if (std::string list = context.given.text("revocation-list"); !list.empty()) {
    std::error_code ignored;
    input["revocationList"] = std::filesystem::absolute(list, ignored).lexically_normal().string();
  }
  if (context.given.has("require-revocation-list")) {
    input["revocationRequired"] = context.given.text("require-revocation-list") == "true";
  }
  constexpr std::string_view kChanges[] = {"name",
                                           "credentials-ref",
                                           "revocation-list",
                                           "answers",
                                           "require-revocation-list",
                                           "archived-max-age-days",
                                           "staged-max-count"};
  if (std::ranges::none_of(kChanges, [&](std::string_view each) { return context.given.has(each); })) {
    return Error{.code = Code::usage, .message = "say what to change", .next = "sluice env update --help"};
  }
  return input;
}

Result<json::object> new_name(Context& context, const MeantNames&) {
  return json::object{{"environment", context.given.text("env")}};
}

std::string made_name(const MeantNames&, const host::Answer& answer) { return answer.text("environment"); }

// The packs that it gets from copy the packs and answers of this environment may ask for more than that has answered.
struct NewEnvironment {
  std::vector<SlotSetup> setups;
};

Result<void> ask_packs(Context& context, CommandDoor& door, NewEnvironment& made, json::object& input) {
  const json::value* base = input.if_contains("extends");
  if (base == nullptr || !base->is_string()) return {};
  auto setups = ask_for_packs(context, door, std::string(base->get_string()), input);
  // That there is no such environment is for the action to say.
  if (!setups && setups.error().code == Code::not_found) return {};
  if (!setups) return setups.error();
  made.setups = *std::move(setups);
  return {};
}

Result<Code> tell_made(Context& context, CommandDoor& door, NewEnvironment& made, const host::Answer& answer) {
  const std::string name = answer.text("environment");
  if (auto kept = set_up_packs(context, door, name, std::move(made.setups)); !kept) {
    Error error = kept.error();
    error.message = name + " was created, but not all its packs are set up: " + error.message;
    if (error.next.empty()) error.next = "sluice env-packs list " + name;
    return error;
  }
  print_done(context, answer, "created", name);
  return Code::ok;
}

Result<std::optional<json::object>> schema_of_new(Context& context, CommandDoor& door) {
  if (!context.given.has("extends")) return std::optional<json::object>();
  auto schema = schema_of_action("Env/create");
  if (!schema) return schema.error();
  auto packs = schemas_of_packs(door, context.given.text("extends"));
  if (!packs) return packs.error();
  for (auto& each : *packs) schema->at("properties").as_object()[each.key()] = std::move(each.value());
  return std::optional(*std::move(schema));
}

Result<ActionCommand::Loss> packs_and_values(Context&, CommandDoor& door, const MeantNames& meant) {
  ActionCommand::Loss loss{.what = "destroy the environment " + meant.environment};
  auto environment = door.read<views::EnvironmentDocument>("environment", {{"environment", meant.environment}});
  if (!environment && environment.error().code == Code::not_found) return loss;
  if (!environment) return environment.error();
  add_count(loss.loses, environment->packs.size(), "pack");
  add_count(loss.loses, environment->host_config.size() - 1, "config value");
  return loss;
}

// ------------------------------------------------------------------------------------------------------ list and show

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<views::ListedEnvironment>>("environments");
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{"ENVIRONMENT"},
                            {"NAME"},
                            {"PACKS", Align::right},
                            {"DEPLOYMENTS", Align::right},
                            {"HEALTH"},
                            {"GENERATION", Align::right}},
                .empty = "No environments yet."};
    for (const views::ListedEnvironment& each : *all) {
      table.rows.push_back({{each.environment_id, Style::strong},
                            {each.name},
                            {std::to_string(each.packs)},
                            {std::to_string(each.deployments)},
                            {text_of(to_json(each.health))},
                            {std::to_string(each.generation)}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

std::string shown(const views::EnvironmentDocument& document, const Terminal& terminal) {
  std::string text = terminal.paint(Style::strong, document.environment_id) + "  " + document.name + ", generation " +
                     std::to_string(document.generation) + ", health " +
                     text_of(to_json(document.health.last_doctor_status)) + "\n";
  for (const auto& [key, value] : document.host_config) {
    if (key != "env_id") text += key + "  " + value + "\n";
  }
  Table packs{.columns = {{"SLOT"}, {"PACK"}, {"GENERATION", Align::right}}, .empty = "No packs."};
  for (const auto& each : document.packs) {
    packs.rows.push_back({{each.slot}, {each.kind}, {std::to_string(each.generation)}});
  }
  Table bundles{.columns = {{.title = "DEPLOYMENT", .whole = true}, {"BUNDLE"}, {"CUSTOMER"}, {"STATUS"}, {"ROUTED"}},
                .empty = "Nothing is deployed here."};
  for (const auto& each : document.bundles) {
    bundles.rows.push_back({{each.deployment_id},
                            {each.bundle_id},
                            {each.customer_id},
                            {text_of(to_json(each.status))},
                            {std::to_string(each.current_revisions.size())}});
  }
  return text + "\n" + render(packs, terminal) + "\n" + render(bundles, terminal);
}

Result<Code> show(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto document =
      (*door)->read<views::EnvironmentDocument>("environment", {{"environment", context.given.text("env")}});
  if (!document) return document.error();
  auto meant =
      (*door)->read<MeantNames>("names", {{"environment", context.given.text("env")}, {"about", "environment"}});
  if (meant && meant->warning) context.output.warn(*meant->warning);
  context.output.print(to_json(*document), [&](const Terminal& terminal) { return shown(*document, terminal); });
  return Code::ok;
}

Result<Code> tell_health(Context& context, CommandDoor&, const MeantNames& meant, const host::Answer& answer) {
  const std::string status = answer.text("status");
  context.output.report(answer.fields, [&](const Terminal& terminal) {
    std::string text;
    for (const json::value& each : answer.fields.at("findings").as_array()) {
      std::string level = text_of(each.at("level"));
      text += terminal.paint(level == "red" ? Style::bad : Style::warning, level) + "  " + text_of(each.at("what")) +
              "\n     next: " + next_command(text_of(each.at("next")), context.commands, context.given) + "\n";
    }
    return text;
  });
  context.output.note(meant.environment + " is " + status, status == "green" ? Style::good : Style::plain);
  return status == "green" ? Code::ok : Code::faults_found;
}

}  // namespace env_commands

void add_env_commands(Commands& commands) {
  using namespace env_commands;
  commands.add_noun({.name = "env", .group = Group::operate, .summary = "Make, show and destroy environments"});
  commands.add(
      {.name = "env list",
       .summary = "List the environments",
       .details = "The environment local, with five default packs, is created when somebody first asks for it.",
       .options = reading_options(),
       .example = "sluice env list",
       .run = list});
  commands.add({.name = "env show",
                .summary = "Show an environment and everything in it",
                .details = "With --output json or yaml it is a sluice.environment.v1. Archived revisions are left out.",
                .args = {environment_arg()},
                .options = reading_options(),
                .example = "sluice env show local",
                .run = show});
  auto made = std::make_shared<NewEnvironment>();
  commands.add(command_of(
      {.name = "env create",
       .action = "Env/create",
       .summary = "Make an environment",
       .details = "The name is part of host names and paths: a-z, 0-9 and -, at most 63 characters. With "
                  "--extends it starts with the packs and the answers of another environment. A terminal is "
                  "asked what those packs still need to know; --answers gives it by slot, as in "
                  "`telemetry: {path: /var/log/app}`, and --schema with --extends shows what that may be.",
       .example = "sluice env create staging --extends local",
       .words = {{.param = "name", .help = "what people call it"},
                 {.param = "extends", .value = "ENV", .help = "copy the packs and answers of this environment"}},
       .args = {environment_arg()},
       .fill = new_name,
       .prepare = [made](Context& context, CommandDoor& door, const MeantNames&,
                         json::object& input) { return ask_packs(context, door, *made, input); },
       .schema = schema_of_new,
       .tell = [made](Context& context, CommandDoor& door, const MeantNames&,
                      const host::Answer& answer) { return tell_made(context, door, *made, answer); }}));
  commands.add(command_of(
      {.name = "env update",
       .action = "Env/update",
       .about = About::environment,
       .summary = "Change what an environment keeps and requires",
       .example = "sluice env update local --staged-max-count 5",
       .words = {{.param = "name", .help = "what people call it"},
                 {.param = "archivedMaxAgeDays", .help = "how many days archived revisions are kept"},
                 {.param = "stagedMaxCount", .help = "how many staged revisions of a deployment are kept"},
                 {.param = "credentialsRef", .value = "REF", .help = "secret://ENV/… of the deployer's credentials"}},
       .options =
           {{.name = "require-revocation-list",
             .value = "BOOL",
             .help = "stage nothing without a revocation list",
             .choices = {"true", "false"}},
            {.name = "revocation-list", .value = "FILE", .help = "the list of revoked bundles", .kind = Kind::path}},
       .fill = changes,
       .done = "updated"}));
  commands.add(command_of({.name = "env doctor",
                           .action = "Env/doctor",
                           .about = About::environment,
                           .summary = "Find out what is wrong with an environment",
                           .details = "The findings are stored as the environment's health: nothing is warmed while it "
                                      "is red. The exit code is 1 unless everything is well.",
                           .example = "sluice env doctor local",
                           .tell = tell_health}));
  commands.add(command_of({.name = "env destroy",
                           .action = "Env/destroy",
                           .about = About::environment,
                           .summary = "Remove an environment in which nothing is deployed",
                           .example = "sluice env destroy staging --yes",
                           .loses = packs_and_values,
                           .done = "destroyed",
                           .what = made_name}));
}

}  // namespace sluice::cli
