// sluice env: environments, what they are made of and how they are. Each command that changes one is an action of Env.
#include <boost/json.hpp>
#include <filesystem>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/losing.h"
#include "cli/objects.h"
#include "config.gen.h"
#include "deploy/views/documents.h"
#include "deploy/views/names.h"

namespace sluice::cli {
namespace env_commands {

namespace views = deploy::views;

std::string text_of(const json::value& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? std::string(value.get_string()) : write(value);
}

// ------------------------------------------------------------------------------------------------- create and update

// Runs one action of Env, and tells.
Result<Code> act(Context& context, Objects& objects, const std::string& action, json::object input,
                 const std::string& done) {
  auto full = with_answers(context, std::move(input));
  if (!full) return full.error();
  auto answer = objects.change(action, *full);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(*answer);
  print_done(context, *answer, done, answer->text("environment"));
  return Code::ok;
}

Result<Code> create(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Env/create");
  json::object input{{"environment", context.given.text("env")}};
  if (context.given.has("name")) input["name"] = context.given.text("name");
  if (context.given.has("extends")) input["extends"] = context.given.text("extends");
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  return act(context, **objects, "Env/create", std::move(input), "created");
}

Result<Code> update(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Env/update");
  json::object input;
  for (auto [option, field] :
       {std::pair{"name", "name"}, {"credentials-ref", "credentialsRef"}, {"revocation-list", "revocationList"}}) {
    if (context.given.has(option)) input[field] = context.given.text(option);
  }
  // Another process may read it, from another folder.
  if (std::string list = context.given.text("revocation-list"); !list.empty()) {
    std::error_code ignored;
    input["revocationList"] = std::filesystem::absolute(list, ignored).lexically_normal().string();
  }
  if (context.given.has("require-revocation-list")) {
    input["revocationRequired"] = context.given.text("require-revocation-list") == "true";
  }
  if (auto days = context.given.number("archived-max-age-days")) input["archivedMaxAgeDays"] = *days;
  if (auto count = context.given.number("staged-max-count")) input["stagedMaxCount"] = *count;
  if (input.empty() && !context.given.has("answers")) {
    return Error{.code = Code::usage, .message = "say what to change", .next = "sluice env update --help"};
  }
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto found = (*objects)->environment();
  if (!found) return found.error();
  input["environment"] = found->id.text();
  return act(context, **objects, "Env/update", std::move(input), "updated");
}

Result<Code> destroy(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Env/destroy");
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto found = (*objects)->environment();
  if (!found) {
    auto again = (*objects)->repeated("Env/destroy", [&](const json::object& input, const Answer&) {
      return input.at("environment") == json::value(context.given.text("env"));
    });
    if (!again) return again.error();
    if (!*again) return found.error();
    if ((*again)->code != Code::ok) return refusal_in_words(**again);
    print_done(context, **again, "destroyed", (*again)->text("environment"));
    return Code::ok;
  }
  std::vector<std::string> loses;
  add_count(loses, (*objects)->states().env().packs(found->id).size(), "pack");
  add_count(loses, (*objects)->states().config().values(deploy::config::ConfigId(found->id.text())).size(),
            "config value");
  auto answer = lose(context, **objects,
                     {.action = "Env/destroy",
                      .input = {{"environment", found->id.text()}},
                      .what = "destroy the environment " + found->id.text(),
                      .loses = std::move(loses)});
  if (!answer) return answer.error();
  if (!*answer) return Code::ok;
  if ((*answer)->code != Code::ok) return refusal_in_words(**answer);
  print_done(context, **answer, "destroyed", (*answer)->text("environment"));
  return Code::ok;
}

// ------------------------------------------------------------------------------------------------------ list and show

Result<Code> list(Context& context) {
  auto objects = Objects::to_read(context);
  if (!objects) return objects.error();
  const views::States& states = (*objects)->states();
  json::array all;
  Table table{.columns = {{"ENVIRONMENT"},
                          {"NAME"},
                          {"PACKS", Align::right},
                          {"DEPLOYMENTS", Align::right},
                          {"HEALTH"},
                          {"GENERATION", Align::right}},
              .empty = "No environments yet."};
  for (const auto& each : states.env().all()) {
    size_t packs = states.env().packs(each.id).size();
    size_t deployments = states.deployment().find_by_environment(each.id.text()).size();
    std::string health = text_of(to_json(each.record.health.lastDoctorStatus));
    all.push_back(json::object{{"environment_id", each.id.text()},
                               {"name", each.record.name},
                               {"packs", packs},
                               {"deployments", deployments},
                               {"last_doctor_status", health},
                               {"generation", each.record.generation}});
    table.rows.push_back({{each.id.text(), Style::strong},
                          {each.record.name},
                          {std::to_string(packs)},
                          {std::to_string(deployments)},
                          {health},
                          {std::to_string(each.record.generation)}});
  }
  context.output.print(all, [&](const Terminal& terminal) { return render(table, terminal); });
  return Code::ok;
}

std::string shown(const json::object& document, const Terminal& terminal) {
  std::string text = terminal.paint(Style::strong, text_of(document.at("environment_id"))) + "  " +
                     text_of(document.at("name")) + ", generation " + text_of(document.at("generation")) + ", health " +
                     text_of(document.at("health").at("last_doctor_status")) + "\n";
  for (const auto& each : document.at("host_config").as_object()) {
    if (each.key() != "env_id") text += std::string(each.key()) + "  " + text_of(each.value()) + "\n";
  }
  Table packs{.columns = {{"SLOT"}, {"PACK"}, {"GENERATION", Align::right}}, .empty = "No packs."};
  for (const json::value& each : document.at("packs").as_array()) {
    packs.rows.push_back({{text_of(each.at("slot"))}, {text_of(each.at("kind"))}, {text_of(each.at("generation"))}});
  }
  Table bundles{.columns = {{.title = "DEPLOYMENT", .whole = true}, {"BUNDLE"}, {"CUSTOMER"}, {"STATUS"}, {"ROUTED"}},
                .empty = "Nothing is deployed here."};
  for (const json::value& each : document.at("bundles").as_array()) {
    bundles.rows.push_back({{text_of(each.at("deployment_id"))},
                            {text_of(each.at("bundle_id"))},
                            {text_of(each.at("customer_id"))},
                            {text_of(each.at("status"))},
                            {std::to_string(each.at("current_revisions").as_array().size())}});
  }
  return text + "\n" + render(packs, terminal) + "\n" + render(bundles, terminal);
}

Result<Code> show(Context& context) {
  auto objects = Objects::to_read(context);
  if (!objects) return objects.error();
  auto found = (*objects)->environment();
  if (!found) return found.error();
  json::object document = to_json(views::environment_document((*objects)->states(), *found)).as_object();
  context.output.print(document, [&](const Terminal& terminal) { return shown(document, terminal); });
  return Code::ok;
}

Result<Code> doctor(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Env/doctor");
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto found = (*objects)->environment();
  if (!found) return found.error();
  auto input = with_answers(context, {{"environment", found->id.text()}});
  if (!input) return input.error();
  auto answer = (*objects)->change("Env/doctor", *input);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(*answer);
  const std::string status = answer->text("status");
  context.output.report(answer->fields, [&](const Terminal& terminal) {
    std::string text;
    for (const json::value& each : answer->fields.at("findings").as_array()) {
      std::string level = text_of(each.at("level"));
      text += terminal.paint(level == "red" ? Style::bad : Style::warning, level) + "  " + text_of(each.at("what")) +
              "\n     next: " + text_of(each.at("next")) + "\n";
    }
    return text;
  });
  context.output.note(found->id.text() + " is " + status, status == "green" ? Style::good : Style::plain);
  return status == "green" ? Code::ok : Code::faults_found;
}

}  // namespace env_commands

void add_env_commands(Commands& commands) {
  using namespace env_commands;
  commands.add_noun({.name = "env", .group = Group::operate, .summary = "Make, show and destroy environments"});
  commands.add({.name = "env list",
                .summary = "List the environments",
                .details = "The environment local is made when somebody first asks, with five packs of its own.",
                .options = reading_options(),
                .example = "sluice env list",
                .run = list});
  commands.add({.name = "env show",
                .summary = "Show an environment with all that belongs to it",
                .details = "With --output json or yaml it is a sluice.environment.v1. Archived revisions are left out.",
                .args = {environment_arg()},
                .options = reading_options(),
                .example = "sluice env show local",
                .run = show});
  commands.add({.name = "env create",
                .summary = "Make an environment",
                .details = "Its name is part of host names and paths: a-z, 0-9 and -, at most 63. With --extends it "
                           "begins with the packs of another one.",
                .args = {environment_arg()},
                .options = changing_options(
                    {{.name = "name", .value = "TEXT", .help = "what people call it"},
                     {.name = "extends", .value = "ENV", .help = "the environment that it is made after"}}),
                .example = "sluice env create staging --extends local",
                .run = create});
  commands.add(
      {.name = "env update",
       .summary = "Change what an environment keeps and requires",
       .args = {environment_arg()},
       .options = changing_options(
           {{.name = "name", .value = "TEXT", .help = "what people call it"},
            {.name = "archived-max-age-days",
             .value = "N",
             .help = "how long archived revisions are kept",
             .kind = Kind::count},
            {.name = "staged-max-count",
             .value = "N",
             .help = "how many staged revisions of a deployment are kept",
             .kind = Kind::count},
            {.name = "require-revocation-list",
             .value = "BOOL",
             .help = "stage nothing without a revocation list",
             .choices = {"true", "false"}},
            {.name = "revocation-list", .value = "FILE", .help = "the list of revoked bundles", .kind = Kind::path},
            {.name = "credentials-ref", .value = "REF", .help = "secret://ENV/… of the deployer's credentials"}}),
       .example = "sluice env update local --staged-max-count 5",
       .run = update});
  commands.add({.name = "env doctor",
                .summary = "Look for what is wrong with an environment",
                .details = "What it finds is kept as the environment's health: nothing is warmed in one that is red. "
                           "The exit code is 1 unless all is well.",
                .args = {environment_arg()},
                .options = changing_options(),
                .example = "sluice env doctor local",
                .run = doctor});
  commands.add({.name = "env destroy",
                .summary = "Remove an environment in which nothing is deployed",
                .args = {environment_arg()},
                .options = losing_options(),
                .example = "sluice env destroy staging --yes",
                .run = destroy});
}

}  // namespace sluice::cli
