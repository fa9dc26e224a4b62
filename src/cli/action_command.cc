// A contract's line says what an action takes: "action rollback(deployment: D, steps: Int) runs: pure -> …".
#include "cli/action_command.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "cli/call_options.h"
#include "cli/losing.h"
#include "cli/opening.h"
#include "deploy/deploy_kit.h"
#include "engine/caller_words.h"
#include "host/access_views.h"

namespace sluice::cli {
namespace {

namespace views = deploy::views;

[[noreturn]] void bad_table(const std::string& what) {
  std::fprintf(stderr, "the table of commands is wrong: %s\n", what.c_str());
  std::abort();
}

// "steps: Int, entries: list { a: Int, b: Int }" at its outermost commas.
std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (char c : text) {
    if (c == '{' || c == '(') ++depth;
    if (c == '}' || c == ')') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(std::move(part));
      part.clear();
    } else if (c != ' ' || !part.empty()) {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

std::string kebab(const std::string& name) {
  std::string text;
  for (char c : name) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) text += '-';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

std::string own_param(const ActionCommand& command) {
  if (!command.param.empty()) return command.param;
  switch (command.about) {
    case About::nothing:
      return "";
    case About::environment:
      return "environment";
    case About::deployment:
      return "deployment";
    case About::revision:
      return "revision";
  }
  return "";
}

enum class Form { flag, number, text, texts, none };

// How a value of this type stands on a command line; `none`: only in a file.
Form form_of(const std::string& type) {
  if (type == "Bool") return Form::flag;
  if (type == "Int") return Form::number;
  if (type == "list String" || type == "set String") return Form::texts;
  const bool record = type.find('{') != std::string::npos || type.starts_with("list") || type.starts_with("set");
  return record || type == "Sealed" || type == "Json" ? Form::none : Form::text;
}

const ParamWords* words_for(const ActionCommand& command, const std::string& param) {
  auto found = std::ranges::find(command.words, param, &ParamWords::param);
  return found == command.words.end() ? nullptr : &*found;
}

std::string option_name(const ActionCommand& command, const std::string& param) {
  const ParamWords* words = words_for(command, param);
  return words != nullptr && !words->option.empty() ? words->option : kebab(param);
}

std::vector<Option> options_of(const ActionCommand& command) {
  std::vector<Option> options;
  for (const ActionParam& each : params_of(command.action)) {
    const Form form = form_of(each.type);
    if (each.name == own_param(command) || form == Form::none) continue;
    const ParamWords* words = words_for(command, each.name);
    Option option{.name = option_name(command, each.name),
                  .help = words != nullptr ? words->help : "",
                  .kind = form == Form::number ? Kind::count : Kind::text,
                  .fallback = words != nullptr ? words->fallback : "",
                  .repeated = form == Form::texts};
    if (form != Form::flag) {
      option.value = words != nullptr && !words->value.empty() ? words->value : form == Form::number ? "N" : "TEXT";
    }
    // Somebody else gives it.
    if (std::ranges::find(command.options, option.name, &Option::name) != command.options.end()) continue;
    if (option.help.empty()) continue;
    options.push_back(std::move(option));
  }
  return options;
}

// `missing` is set if what is named is gone, which this very command may have done before, under its key.
Result<views::MeantNames> meant_by(Context& context, CommandDoor& door, const ActionCommand& command,
                                   std::optional<Error>& missing) {
  views::MeantNames meant;
  if (command.about == About::nothing) return meant;
  views::NamesQuery query{.environment = context.given.text("env")};
  if (command.about == About::environment) query.about = views::NamesAbout::environment;
  if (command.about != About::environment) {
    if (auto sound = check_deployment_options(context); !sound) return sound.error();
    query.deployment = context.given.text("deployment");
    query.bundle = context.given.text("bundle");
    query.customer = context.given.text("customer-id");
  }
  if (command.about == About::revision) {
    query.about = views::NamesAbout::revisions;
    query.revisions.push_back(context.given.text("revision"));
  }
  if (command.revisions) {
    auto more = command.revisions(context);
    if (!more) return more.error();
    std::ranges::move(*more, std::back_inserter(query.revisions));
  }
  auto read = door.read<views::MeantNames>("names", to_json(query).as_object());
  if (!read && read.error().code == Code::not_found && command.about != About::revision &&
      context.given.has("idempotency-key")) {
    missing = read.error();
  }
  if (read && read->warning) context.output.warn(*read->warning);
  return read;
}

Result<json::object> input_of(Context& context, const ActionCommand& command, const views::MeantNames& meant) {
  json::object input;
  const std::string own = own_param(command);
  if (command.about == About::environment) input[own] = meant.environment;
  if (command.about == About::deployment) input[own] = meant.deployment;
  if (command.about == About::revision) input[own] = meant.revisions.front().revision;
  for (const ActionParam& each : params_of(command.action)) {
    const std::string option = option_name(command, each.name);
    const auto& options = context.given.command->options;
    if (input.contains(each.name) || std::ranges::find(options, option, &Option::name) == options.end()) continue;
    switch (form_of(each.type)) {
      case Form::flag:
        if (!each.optional || context.given.flag(option)) input[each.name] = context.given.flag(option);
        break;
      case Form::number:
        if (auto number = context.given.number(option)) input[each.name] = *number;
        break;
      case Form::text:
        if (!context.given.text(option).empty() || context.given.has(option)) {
          input[each.name] = context.given.text(option);
        }
        break;
      case Form::texts:
        if (!each.optional || context.given.has(option)) input[each.name] = to_json(context.given.texts(option));
        break;
      case Form::none:
        break;
    }
  }
  if (command.fill) {
    auto filled = command.fill(context, meant);
    if (!filled) return filled.error();
    for (auto& each : *filled) input[each.key()] = std::move(each.value());
  }
  return with_answers(context, std::move(input));
}

// What this very command has done before under its key, if that was about the same: what it was about is gone by now.
// Nothing: that was something else.
std::optional<json::object> done_before(Context& context, CommandDoor& door, const ActionCommand& command,
                                        views::MeantNames& meant) {
  auto before = door.look("keyed-call", {{"key", context.given.text("idempotency-key")}});
  auto call = before ? read<OrNull<host::KeyedCallView>>(before->document) : before.error();
  if (!call || !*call || (*call)->action != command.action || !(*call)->input.is_object()) return std::nullopt;
  const json::object& input = (*call)->input.as_object();
  json::object about = input;
  if ((*call)->fields.is_object()) {
    for (const auto& each : (*call)->fields.get_object()) about[each.key()] = each.value();
  }
  auto text = [&](const char* name) {
    const json::value* value = about.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  meant = {.environment = text("environment"),
           .deployment = text("deployment"),
           .bundle = text("bundle"),
           .customer = text("customer")};
  auto is = [&](const char* option, const std::string& value) {
    return !takes(context.given, option) || !context.given.has(option) || context.given.text(option) == value;
  };
  const bool same =
      context.given.text("env") == meant.environment && is("bundle", meant.bundle) &&
      is("customer-id", meant.customer) &&
      (!takes(context.given, "deployment") || meant.deployment.starts_with(context.given.text("deployment")));
  return same ? std::optional(input) : std::nullopt;
}

// "shop@2 (01J…)", "shop (01J…)", "staging"
std::string title_of(const ActionCommand& command, const views::MeantNames& meant) {
  if (command.about == About::revision) {
    return meant.revisions.front().name + " (" + meant.revisions.front().revision + ")";
  }
  if (command.about == About::deployment) return meant.bundle + " (" + meant.deployment + ")";
  return meant.environment;
}

Result<Code> tell(const ActionCommand& command, Context& context, CommandDoor& door, const views::MeantNames& meant,
                  const host::Answer& answer) {
  if (command.tell) return command.tell(context, door, meant, answer);
  if (command.done.empty()) {
    print_answer(context, answer);
  } else {
    print_done(context, answer, command.done, command.what ? command.what(meant, answer) : title_of(command, meant));
  }
  return Code::ok;
}

Result<Code> run(const ActionCommand& command, Context& context) {
  if (wants_schema(context) && !command.schema) return print_schema(context, command.action);
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  if (wants_schema(context)) {
    auto schema = command.schema(context, **door);
    if (!schema) return schema.error();
    if (!*schema) return print_schema(context, command.action);
    if ((*schema)->empty()) return Code::ok;
    context.output.print(**schema, [&](const Terminal&) { return write(**schema) + "\n"; });
    return Code::ok;
  }
  std::optional<Error> missing;
  auto meant = meant_by(context, **door, command, missing);
  if (missing) {
    meant = views::MeantNames();
    auto input = done_before(context, **door, command, *meant);
    if (!input) return *missing;
    auto answer = (*door)->call(command.action, *input);
    if (!answer || answer->code != Code::ok) return *missing;
    return tell(command, context, **door, *meant, *answer);
  }
  if (!meant) return meant.error();
  auto input = input_of(context, command, *meant);
  if (!input) return input.error();
  if (command.prepare) {
    if (auto prepared = command.prepare(context, **door, *meant, *input); !prepared) return prepared.error();
  }
  if (command.loses) {
    auto loss = command.loses(context, **door, *meant);
    if (!loss) return loss.error();
    if (context.given.flag("dry-run")) {
      auto would = (*door)->would(command.action, *input);
      if (!would) return would.error();
      if (would->code != Code::ok) return refusal_in_words(context, *would);
      return print_loss(context, {.what = loss->what, .loses = loss->loses});
    }
    auto sure = command.asks ? confirmed(context, loss->what) : Result<bool>(true);
    if (!sure) return sure.error();
    if (!*sure) return Code::ok;
  }
  std::shared_ptr<void> meanwhile = command.meanwhile ? command.meanwhile(context, *meant) : nullptr;
  auto answer = (*door)->call(command.action, *input, command.wait ? command.wait(context) : host::WaitFor::answer);
  meanwhile.reset();
  if (!answer) return answer.error();
  if (answer->code != Code::ok) {
    Error error = (*door)->refusal(*answer);
    if (std::string next = command.next ? command.next(context, *meant, *answer) : ""; !next.empty()) error.next = next;
    return error;
  }
  return tell(command, context, **door, *meant, *answer);
}

}  // namespace

std::vector<ActionParam> params_of(const std::string& action) {
  const size_t slash = action.find('/');
  for (const lang::ConceptBinding* each : deploy::concepts()) {
    if (slash == std::string::npos || each->name != action.substr(0, slash)) continue;
    const std::string beginning = "action " + action.substr(slash + 1) + "(";
    for (const std::string& line : each->contract) {
      if (!line.starts_with(beginning)) continue;
      int depth = 1;
      size_t end = beginning.size();
      for (; end < line.size() && depth > 0; ++end) depth += line[end] == '(' ? 1 : line[end] == ')' ? -1 : 0;
      std::vector<ActionParam> params;
      for (const std::string& part : split_at_commas(line.substr(beginning.size(), end - 1 - beginning.size()))) {
        const size_t colon = part.find(": ");
        ActionParam param{.name = part.substr(0, colon), .type = part.substr(colon + 2)};
        param.optional = param.type.starts_with("option ");
        if (param.optional) param.type = param.type.substr(std::string_view("option ").size());
        if (param.name != engine::kCallerArgument && param.name != engine::kCallerKeyArgument) {
          params.push_back(std::move(param));
        }
      }
      return params;
    }
  }
  bad_table("the kit has no action " + action);
}

Command command_of(ActionCommand command) {
  const std::vector<ActionParam> params = params_of(command.action);
  auto has = [&](const std::string& name) {
    return std::ranges::find(params, name, &ActionParam::name) != params.end();
  };
  for (const ParamWords& each : command.words) {
    if (!has(each.param)) bad_table(command.action + " has no parameter " + each.param);
  }
  if (command.about != About::nothing && !has(own_param(command))) {
    bad_table(command.action + " has no parameter " + own_param(command));
  }
  std::vector<Arg> args;
  if (command.about != About::nothing) args.push_back(environment_arg());
  if (command.about == About::revision) args.push_back({.name = "revision", .help = "its id, or BUNDLE@SEQUENCE"});
  std::ranges::copy(command.args, std::back_inserter(args));
  std::vector<Option> options = options_of(command);
  std::ranges::copy(command.options, std::back_inserter(options));
  options = command.loses ? losing_options(std::move(options)) : changing_options(std::move(options));
  if (command.about == About::deployment || command.about == About::revision) {
    options = deployment_options(std::move(options));
  }
  Command made{.name = command.name,
               .summary = command.summary,
               .details = command.details,
               .args = std::move(args),
               .options = std::move(options),
               .example = command.example};
  made.action = command.action;
  for (const ActionParam& each : params) {
    if (each.name == own_param(command)) {
      const std::string place = command.about == About::environment ? "env"
                                : command.about == About::revision  ? "revision"
                                                                    : each.name;
      made.params.emplace_back(each.name, command.about == About::deployment ? "--" + place : "<" + place + ">");
    } else if (std::ranges::find(command.args, each.name, &Arg::name) != command.args.end()) {
      made.params.emplace_back(each.name, "<" + each.name + ">");
    } else if (const std::string option = option_name(command, each.name);
               std::ranges::find(made.options, option, &Option::name) != made.options.end()) {
      made.params.emplace_back(each.name, "--" + option);
    }
  }
  made.run = [command = std::move(command)](Context& context) { return run(command, context); };
  return made;
}

}  // namespace sluice::cli
