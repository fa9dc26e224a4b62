// sluice config: what an environment's host is like, and what was found out there.
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/objects.h"
#include "cli/routers_told.h"
#include "deploy/host_config.h"

namespace sluice::cli {
namespace config_commands {

namespace views = deploy::views;
using views::MeantNames;

Result<Code> show(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto document = (*door)->read<views::ConfigDocument>("config", {{"environment", context.given.text("env")}});
  if (!document) return document.error();
  for (const auto& each : document->setup) {
    if (each.problem) context.output.warn("the answers of " + each.kind + " cannot be read: " + *each.problem);
  }
  context.output.print(to_json(*document), [&](const Terminal& terminal) {
    Table table{.columns = {{"KEY"}, {"VALUE"}, {"OF"}}, .empty = "Nothing is configured."};
    for (const auto& [key, value] : document->host_config) {
      if (key != "env_id") table.rows.push_back({{key}, {value}, {"operator"}});
    }
    for (const auto& each : document->setup) {
      for (const auto& one : each.answers.as_object()) {
        table.rows.push_back({{each.slot + "." + std::string(one.key())},
                              {one.value().is_string() ? std::string(one.value().as_string()) : write(one.value())},
                              {"setup of " + each.kind}});
      }
    }
    for (const auto& each : document->runtime.produced) {
      table.rows.push_back({{each.key}, {document->runtime.discovered[each.key]}, {each.generated_by}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<json::object> key_values(Context& context, const MeantNames&) {
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
  return json::object{{"values", std::move(values)}};
}

Result<Code> tell_set(Context& context, CommandDoor& door, const MeantNames& meant, const host::Answer& answer) {
  print_done(context, answer, "set", meant.environment + ", generation " + write(answer.fields.at("generation")));
  auto routers = door.read<views::RoutersView>("routers", {{"environment", meant.environment}});
  if (!routers) return routers.error();
  if (!routers->members.empty()) tell_of_routers(context, *routers);
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
  commands.add(command_of(
      {.name = "config set",
       .action = "Config/set",
       .about = About::environment,
       .summary = "Say what the environment's host is like",
       .details = "The keys are " + keys +
                  ". An empty value removes one. Routers believe the proxies that trusted_proxies names, as "
                  "10.0.0.0/8,::1, in what they say of a request's origin; access_log_share is how many requests they "
                  "log, as 1%; connections_per_address is how many connections they take from one address, which is "
                  "half of all that they may have unless it is set.",
       .example = "sluice config set local region=eu-west public_base_url=https://shop.example",
       .args = {{.name = "values", .help = "key=value, any number", .optional = true, .repeated = true}},
       .fill = key_values,
       .wait = [](const Context&) { return host::WaitFor::all; },
       .next = [](Context&, const MeantNames&, const host::Answer&) { return std::string("sluice config set --help"); },
       .tell = tell_set}));
}

}  // namespace sluice::cli
