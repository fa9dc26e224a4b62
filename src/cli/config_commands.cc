// sluice config: what an environment's host is like, and what was found out there.
#include <boost/json.hpp>

#include "base/json.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/objects.h"
#include "cli/routers_told.h"
#include "deploy/host_config.h"
#include "deploy/views/answers.h"
#include "deploy/views/documents.h"
#include "deploy/views/names.h"

namespace sluice::cli {
namespace config_commands {

namespace views = deploy::views;

// What packs were set up with. Answers that cannot be read are told of, and are none.
json::array setup_of(Context& context, const Objects& objects, const std::string& environment) {
  json::array all;
  for (const views::PackAnswers& each : views::pack_answers(objects.snapshot(), environment)) {
    auto answers = views::read_answers(context.disk, each.file);
    if (!answers) context.output.warn("the answers of " + each.kind + " cannot be read: " + to_string(answers.error()));
    all.push_back(json::object{{"slot", each.slot},
                               {"kind", each.kind},
                               {"answers_ref", each.file},
                               {"answers", answers ? answers->root.get_object() : json::object()}});
  }
  return all;
}

Result<Code> show(Context& context) {
  auto objects = Objects::to_read(context);
  if (!objects) return objects.error();
  auto found = (*objects)->environment();
  if (!found) return found.error();
  json::object document = views::config_document((*objects)->states(), found->id.text());
  document["setup"] = setup_of(context, **objects, found->id.text());
  context.output.print(document, [&](const Terminal& terminal) {
    Table table{.columns = {{"KEY"}, {"VALUE"}, {"OF"}}, .empty = "Nothing is configured."};
    for (const auto& each : document.at("host_config").as_object()) {
      if (each.key() == "env_id") continue;
      table.rows.push_back({{std::string(each.key())}, {std::string(each.value().as_string())}, {"operator"}});
    }
    for (const json::value& each : document.at("setup").as_array()) {
      const std::string slot(each.at("slot").as_string()), kind(each.at("kind").as_string());
      for (const auto& one : each.at("answers").as_object()) {
        table.rows.push_back({{slot + "." + std::string(one.key())},
                              {one.value().is_string() ? std::string(one.value().as_string()) : write(one.value())},
                              {"setup of " + kind}});
      }
    }
    for (const json::value& each : document.at("runtime").at("produced").as_array()) {
      std::string key(each.at("key").as_string());
      table.rows.push_back({{key},
                            {std::string(document.at("runtime").at("discovered").at(key).as_string())},
                            {std::string(each.at("generated_by").as_string())}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> set(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Config/set");
  json::array values;
  for (const std::string& each : context.given.texts("values")) {
    size_t equals = each.find('=');
    if (equals == std::string::npos) {
      return Error{.code = Code::usage,
                   .message = "expected key=value, found '" + printable(each) + "'",
                   .next = "sluice config set local region=eu-west"};
    }
    values.push_back(json::object{{"key", each.substr(0, equals)}, {"value", each.substr(equals + 1)}});
  }
  if (values.empty() && !context.given.has("answers")) {
    return Error{.code = Code::usage,
                 .message = "say what to set, as key=value",
                 .next = "sluice config set local region=eu-west"};
  }
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto found = (*objects)->environment();
  if (!found) return found.error();
  auto input = with_answers(context, {{"environment", found->id.text()}, {"values", std::move(values)}});
  if (!input) return input.error();
  auto answer = (*objects)->change("Config/set", *input);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(*answer, "sluice config set --help");
  if (auto settled = (*objects)->settle(); !settled) return settled.error();
  print_done(context, *answer, "set", found->id.text() + ", generation " + write(answer->fields.at("generation")));
  const std::string environment = found->id.text();
  if (!(*objects)->states().router().members(deploy::router::RouterId(environment)).empty()) {
    tell_of_routers(context, (*objects)->states(), environment);
  }
  return Code::ok;
}

}  // namespace config_commands

void add_config_commands(Commands& commands) {
  using namespace config_commands;
  commands.add_noun({.name = "config", .group = Group::operate, .summary = "Show and set what an environment is like"});
  commands.add({.name = "config show",
                .summary = "Show what was set, set up, and found out",
                .details = "By the operator, with the answers of packs, and by the deployer.",
                .args = {environment_arg()},
                .options = reading_options(),
                .example = "sluice config show local",
                .run = show});
  std::string keys;
  for (std::string_view each : deploy::host_keys()) keys += (keys.empty() ? "" : ", ") + std::string(each);
  commands.add(
      {.name = "config set",
       .summary = "Say what the environment's host is like",
       .details = "The keys are " + keys +
                  ". An empty value takes one away. Routers believe the proxies that trusted_proxies names, "
                  "as 10.0.0.0/8,::1, in what they say of a request's origin; access_log_share is how many "
                  "requests they log, as 1%; connections_per_address is how many connections they take from one "
                  "address, which is half of all that they may have unless it is set.",
       .args = {environment_arg(),
                {.name = "values", .help = "key=value, any number", .optional = true, .repeated = true}},
       .options = changing_options(),
       .example = "sluice config set local region=eu-west public_base_url=https://shop.example",
       .run = set});
}

}  // namespace sluice::cli
