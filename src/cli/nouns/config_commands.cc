// sluice config: what an environment's host is like, how bundles are set up there, and what was found out.
#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/asking.h"
#include "cli/call_options.h"
#include "cli/outputs.h"
#include "cli/routers_told.h"
#include "deploy/host_config.h"

namespace sluice::cli {
namespace config_commands {

namespace views = deploy::views;
using views::MeantNames;

const Option kBundle{.name = "bundle", .value = "NAME", .help = "the bundle that asks"};
const Option kDeployment{.name = "deployment", .value = "ID", .help = "a deployment, by its id or by its bundle"};
const Option kCustomer{.name = "customer-id", .value = "NAME", .help = "the customer that it is deployed for"};

std::string plain(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : value.is_null() ? "" : write(value);
}

std::string title_of(const views::DeploymentSettings& each) { return each.bundle + " for " + each.customer; }

// Says which deployments run with other settings than those that hold.
void tell_pending(Context& context, const std::vector<views::DeploymentSettings>& deployments) {
  bool any = false;
  for (const views::DeploymentSettings& each : deployments) {
    if (each.problem) context.output.warn(title_of(each) + ": " + *each.problem);
    if (each.staged_as) context.output.note(title_of(each) + " has its new settings as " + *each.staged_as);
    if (!each.pending || each.problem) continue;
    context.output.note("pending: " + title_of(each) + " runs as " + each.revision + " with other settings");
    any = true;
  }
  if (any) context.output.note("next: sluice config apply " + context.given.text("env"));
}

// Those that the command line means: a deployment by its id or by its bundle, or all.
Result<std::vector<views::DeploymentSettings>> meant_settings(Context& context, CommandDoor& door) {
  json::object query{{"environment", context.given.text("env")}};
  if (context.given.has("deployment")) query["deployment"] = context.given.text("deployment");
  if (context.given.has("customer-id")) query["customer"] = context.given.text("customer-id");
  if (query.contains("customer") && !query.contains("deployment")) {
    return Error{.code = Code::usage, .message = "--customer-id is said of a --deployment that is named by its bundle"};
  }
  return door.read<std::vector<views::DeploymentSettings>>("settings", query);
}

Result<Code> explain(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = meant_settings(context, **door);
  if (!all) return all.error();
  auto document = (*door)->read<views::ConfigDocument>("config", {{"environment", context.given.text("env")}});
  if (!document) return document.error();
  document->deployments = *all;
  context.output.print(to_json(*document), [&](const Terminal& terminal) {
    std::string text;
    for (const views::DeploymentSettings& each : *all) {
      text += (text.empty() ? "" : "\n") + title_of(each) + " (" + each.deployment_id + "), " + each.revision + "\n";
      Table table{.columns = {{"SETTING"}, {"VALUE"}, {"OWNER"}, {"FROM"}}, .empty = "It has no settings."};
      for (const views::SettingView& one : each.settings) {
        table.rows.push_back({{one.name}, {plain(one.value)}, {plain(to_json(one.owner))}, {one.from}});
      }
      text += render(table, terminal);
    }
    return text.empty() ? std::string("Nothing is deployed here.\n") : text;
  });
  tell_pending(context, *all);
  return Code::ok;
}

Result<Code> show(Context& context) {
  if (context.given.has("deployment") || context.given.flag("explain")) return explain(context);
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
      const size_t line = value.find('\n');  // of several lines the first says what it is
      const std::string shown = line == std::string::npos ? value : value.substr(0, line) + " …";
      if (key != "env_id") table.rows.push_back({{key}, {shown}, {"operator"}});
    }
    for (const auto& each : document->setup) {
      for (const auto& one : each.answers.as_object()) {
        table.rows.push_back(
            {{each.slot + "." + std::string(one.key())}, {plain(one.value())}, {"setup of " + each.kind}});
      }
    }
    for (const auto& each : document->answers) {
      table.rows.push_back({{each.bundle + "." + each.name}, {plain(each.value)}, {"setup of " + each.bundle}});
    }
    for (const auto& each : document->runtime.produced) {
      table.rows.push_back({{each.key}, {document->runtime.discovered[each.key]}, {each.generated_by}});
    }
    return render(table, terminal);
  });
  tell_pending(context, document->deployments);
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
  auto routers = routers_of(door, meant.environment);
  if (!routers) return routers.error();
  if (!routers->members.empty()) tell_of_routers(context, *routers);
  return Code::ok;
}

// ------------------------------------------------------------------------------------------------ how bundles are set
// up

const bundle::Question* find_question(bundle::Questions questions, const std::string& name) {
  auto found = std::ranges::find_if(questions, [&](const auto& each) { return each.name.text == name; });
  return found == questions.end() ? nullptr : &*found;
}

// As the question wants it: a text, or JSON.
Result<json::value> value_of(const bundle::Question* question, const std::string& text) {
  if (question == nullptr || question->type == bundle::AnswerType::string || text.starts_with("runtime://")) {
    return json::value(text);
  }
  return bundle::typed_answer(*question, text);
}

Result<json::object> answers_given(Context& context, bundle::Questions questions, const std::string& bundle,
                                   const std::string& next) {
  auto answers = with_answers(context, {});
  if (!answers) return answers.error();
  for (const std::string& each : context.given.texts("values")) {
    const size_t equals = each.find('=');
    if (equals == std::string::npos) {
      return Error{.code = Code::usage, .message = "expected name=value, found '" + printable(each) + "'"};
    }
    const std::string name = each.substr(0, equals), text = each.substr(equals + 1);
    if (text.empty()) {
      (*answers)[name] = nullptr;
      continue;
    }
    const bundle::Question* question = find_question(questions, name);
    if (question != nullptr && question->secret && !bundle::is_secret_reference(json::value(text))) {
      return secret_on_command_line(name, context.given.text("env"), bundle + "/" + bundle::secret_variable(*question));
    }
    auto value = value_of(question, text);
    if (!value) {
      return Error{.code = Code::invalid,
                   .message = name + ": " + value.error().message + "; nothing was changed",
                   .next = next};
    }
    (*answers)[name] = *std::move(value);
  }
  return answers;
}

Result<Code> set_up(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const std::string environment = context.given.text("env");
  std::string bundle = context.given.text("bundle"), deployment;
  if (context.given.has("deployment")) {
    auto meant = meant_settings(context, **door);
    if (!meant) return meant.error();
    if (meant->empty()) return Error{.code = Code::not_found, .message = "nothing of it was staged yet"};
    bundle = meant->front().bundle;
    deployment = meant->front().deployment_id;
  }
  std::vector<bundle::Question> questions;
  json::object known;
  auto asked = (*door)->read<views::BundleQuestions>("questions", {{"environment", environment}, {"bundle", bundle}});
  if (!asked && asked.error().code != Code::not_found) return asked.error();
  if (asked) {
    questions = asked->questions;
    known = asked->answers.as_object();
  }
  if (wants_schema(context)) {
    context.output.print(bundle::answers_schema(questions, bundle),
                         [&](const Terminal& terminal) { return questions_table(questions, terminal); });
    return Code::ok;
  }
  const std::string next = "sluice config set " + environment + " --bundle " + bundle + " --schema";
  auto answers = answers_given(context, questions, bundle, next);
  if (!answers) return answers.error();
  if (answers->empty()) {
    if (!asked) return asked.error();
    // Whoever says nothing is asked for what is still open.
    auto complete = ask(
        context, {.questions = questions,
                  .what = bundle,
                  .given = known,
                  .keep_secret = [&](const std::string& name, const std::string& value) {
                    auto question =
                        std::ranges::find_if(questions, [&](const auto& each) { return each.name.text == name; });
                    return keep_secret(**door, environment, bundle + "/" + bundle::secret_variable(*question), value);
                  }});
    if (!complete) return complete.error();
    for (const bundle::Question& each : questions) {
      const json::value* answer = each.secret ? nullptr : complete->if_contains(each.name.text);
      if (answer != nullptr && (!each.default_ || *answer != *each.default_)) (*answers)[each.name.text] = *answer;
    }
  }
  auto kept = keep_secret_answers(questions, *answers, [&](const bundle::Question& each, const std::string& value) {
    return keep_secret(**door, environment, bundle + "/" + bundle::secret_variable(each), value);
  });
  if (!kept) return kept.error();
  json::array values;
  for (const auto& each : *answers) {
    values.push_back(
        json::object{{"key", each.key()}, {"value", each.value().is_null() ? std::string() : write(each.value())}});
  }
  json::object input{{"values", std::move(values)}};
  if (deployment.empty()) {
    input["environment"] = environment;
    input["bundle"] = bundle;
  } else {
    input["deployment"] = deployment;
  }
  auto answer = (*door)->call(deployment.empty() ? "Config/setUp" : "Deployment/configure", input);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) {
    Error error = refusal_in_words(context, *answer, environment);
    error.next = next;
    return error;
  }
  print_done(context, *answer, "set",
             (deployment.empty() ? bundle + " in " + environment : bundle + " (" + deployment + ")") + ", generation " +
                 write(answer->fields.at("generation")));
  auto all = (*door)->read<std::vector<views::DeploymentSettings>>("settings", {{"environment", environment}});
  if (!all) return all.error();
  std::erase_if(*all, [&](const auto& each) { return each.bundle != bundle; });
  tell_pending(context, *all);
  return Code::ok;
}

Result<Code> apply(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Revision/refresh");
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = meant_settings(context, **door);
  if (!all) return all.error();
  const std::string environment = context.given.text("env");
  std::vector<outputs::ConfigStaged> staged;
  std::vector<std::string> lines;
  std::optional<Error> failed;
  for (const views::DeploymentSettings& each : *all) {
    if (!each.pending && !each.staged_as) continue;
    auto input = with_answers(context, {{"deployment", each.deployment_id}});
    if (!input) return input.error();
    auto answer = (*door)->call("Revision/refresh", *input, host::WaitFor::answer, each.deployment_id);
    if (!answer) return answer.error();
    if (answer->code != Code::ok) {
      failed = refusal_in_words(context, *answer, environment);
      failed->message = title_of(each) + ": " + failed->message;
      context.output.warn(failed->message);
      continue;
    }
    if (answer->variant == "unchanged") continue;
    const std::string name = each.bundle + "@" + write(answer->fields.at("sequence"));
    staged.push_back({.deployment = each.deployment_id,
                      .revision = answer->text("revision"),
                      .name = name,
                      .fresh = answer->fields.at("fresh").as_bool()});
    lines.push_back(name + " (" + answer->text("revision") + ") of " + title_of(each));
    context.output.note("next: sluice revisions warm " + environment + " " + answer->text("revision"));
  }
  context.output.print(to_json(staged), [&](const Terminal& terminal) {
    std::string text;
    for (const std::string& each : lines) text += terminal.paint(Style::good, "staged") + "  " + each + "\n";
    return text.empty() ? std::string("Nothing is pending.\n") : text;
  });
  if (failed) return *failed;
  return Code::ok;
}

}  // namespace config_commands

void add_config_commands(Commands& commands) {
  using namespace config_commands;
  commands.add_noun(
      {.name = "config", .group = Group::operate, .summary = "Show and set the configuration of an environment"});
  commands.add({.name = "config show",
                .summary = "Show settings: host, answers, and what was discovered",
                .details = "Set by the operator, given as answers to what packs and bundles ask, and discovered by the "
                           "deployer. With --deployment or --explain: the settings of deployments, each with its owner "
                           "and where it comes from.",
                .args = {environment_arg()},
                .options = reading_options(
                    {kDeployment, kCustomer, {.name = "explain", .help = "say where each setting comes from"}}),
                .example = "sluice config show local --explain",
                .run = show});
  commands.add({.name = "config apply",
                .summary = "Stage revisions that have the current settings",
                .details =
                    "Each deployment whose settings have changed since it was staged gets a revision of the same "
                    "bundle. Warm it and give it traffic as any other.",
                .args = {environment_arg()},
                .options = changing_options({kDeployment, kCustomer}),
                .example = "sluice config apply local",
                .run = apply});
  std::string keys;
  for (std::string_view each : deploy::host_keys()) keys += (keys.empty() ? "" : ", ") + std::string(each);
  Command set = command_of(
      {.name = "config set",
       .action = "Config/set",
       .about = About::environment,
       .summary = "Set host settings, or answer a bundle's questions",
       .details =
           "With --bundle: the environment's answers to what the bundle asks; with --deployment: those of one "
           "deployment, which override them. Without values you are asked. Deployments whose settings differ "
           "then are pending until `sluice config apply`.\n\nElse the keys are " +
           keys +
           ". An empty value removes one. Routers believe the proxies that trusted_proxies names, as "
           "10.0.0.0/8,::1, in what they say of a request's origin; access_log_share is how many requests they "
           "log, as 1%; connections_per_address is how many connections they take from one address, which is "
           "half of all that they may have unless it is set. revision_proofs=digest or =signature tells routers "
           "what each revision is, for bounds (sluice bounds). With tls_redirect=on routers send requests in the "
           "clear to https, and hsts_s=31536000 tells browsers to come by TLS alone for so many seconds. With "
           "client_ca=\"$(cat authorities.pem)\" clients must show a certificate that one of these authorities has "
           "signed; with client_certificates=wanted clients without one are let in, too. trusted_callers names "
           "clients, "
           "as spiffe://shop.example/tester, whose X-Sluice-Deployment and X-Sluice-Revision headers choose the "
           "revision that answers them.",
       .example = "sluice config set local region=eu-west public_base_url=https://shop.example",
       .args = {{.name = "values", .help = "key=value, any number", .optional = true, .repeated = true}},
       .options = {kBundle, kDeployment, kCustomer},
       .fill = key_values,
       .wait = [](const Context&) { return host::WaitFor::all; },
       .next = [](Context&, const MeantNames&, const host::Answer&) { return std::string("sluice config set --help"); },
       .tell = tell_set});
  auto set_host = set.run;
  set.run = [set_host](Context& context) {
    return context.given.has("bundle") || context.given.has("deployment") ? set_up(context) : set_host(context);
  };
  commands.add(std::move(set));
}

}  // namespace sluice::cli
