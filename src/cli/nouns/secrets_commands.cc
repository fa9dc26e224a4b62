// sluice secrets: what an environment's workloads must know and nobody else may. No command prints a value.
#include <boost/json.hpp>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/secret_input.h"
#include "deploy/views/secrets.h"

namespace sluice::cli {
namespace secrets_commands {

namespace views = deploy::views;
using views::MeantNames;

const Arg kName{.name = "name", .help = "BUNDLE/NAME, such as hello/API_KEY"};
// Takes what must not stand there, to refuse it with what to type instead.
const Arg kNoValue{
    .name = "value", .help = "refused: a value is piped in or typed", .optional = true, .repeated = true};
const Option kFile{.name = "file", .value = "FILE", .help = "read the value from this file", .kind = Kind::path};

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& each : words) all += (all.empty() ? "" : ", ") + each;
  return all;
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<views::ListedSecret>>("secrets", {{"environment", context.given.text("env")}});
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "NAME", .whole = true}, {"VERSION"}, {"PROVIDER"}, {"USED BY"}},
                .empty = "There are no secrets."};
    for (const views::ListedSecret& each : *all) {
      table.rows.push_back({{each.name},
                            each.version ? Cell{*each.version} : Cell{"missing", Style::bad},
                            {each.provider},
                            {joined(each.wanted)}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

// Whether a newer version could not be given to it.
bool lags(const views::SecretView& view, const views::SecretUser& user) {
  return !user.pinned && !user.problem.empty() && view.version && user.version != *view.version;
}

Result<Code> get(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto view = (*door)->read<views::SecretView>(
      "secret", {{"environment", context.given.text("env")}, {"name", context.given.text("name")}});
  if (!view) return view.error();
  context.output.print(to_json(*view), [&](const Terminal& terminal) {
    std::string text = view->name + " in " + view->environment + ", kept by " + view->provider + ", " +
                       (view->version ? "version " + *view->version : std::string("not there yet")) + "\n";
    Table versions{.columns = {{"VERSION"}, {"KEPT AT"}, {"USED BY"}}};
    for (const views::KeptVersion& each : view->versions) {
      std::vector<std::string> users;
      for (const views::SecretUser& user : view->used_by) {
        if (user.version == each.version) users.push_back(user.revision + (user.pinned ? " (pinned)" : ""));
      }
      versions.rows.push_back({{each.version}, {utc_text(each.kept_at.ms)}, {joined(users)}});
    }
    if (!versions.rows.empty()) text += "\n" + render(versions, terminal);
    for (const views::SecretUser& user : view->used_by) {
      if (!lags(*view, user)) continue;
      text += "\n" + user.revision + " still has version " + user.version + ": " + user.problem + "\n";
    }
    Table readers{.columns = {{"READ AT"}, {"BY"}, {"VERSION"}, {"FOR"}}};
    for (const views::SecretReader& each : view->readers) {
      readers.rows.push_back({{utc_text(each.read_at.ms)}, {each.reader}, {each.version}, {each.purpose}});
    }
    if (!readers.rows.empty()) text += "\n" + render(readers, terminal);
    return text;
  });
  return Code::ok;
}

json::object named(Context& context, const MeantNames& meant) {
  return {{"name", context.given.text("name")}, {"provider", meant.secrets_provider}};
}

Result<json::object> with_value(Context& context, const MeantNames& meant) {
  if (auto sound = check_no_value_given(context); !sound) return sound.error();
  auto value = read_secret_value(context, context.given.text("name"));
  if (!value) return value.error();
  json::object input = named(context, meant);
  input["value"] = *std::move(value);
  return input;
}

// The provider makes a value up, unless one is handed over.
Result<json::object> with_new_value(Context& context, const MeantNames& meant) {
  if (auto sound = check_no_value_given(context); !sound) return sound.error();
  if (context.given.has("file") || context.given.flag("stdin")) return with_value(context, meant);
  return named(context, meant);
}

std::string in_words(const MeantNames& meant, const host::Answer& answer, const char* field) {
  const std::string secret = answer.text("secret");
  return secret.substr(std::min(secret.size(), meant.environment.size() + 1)) + " in " + meant.environment +
         ", version " + answer.text(field);
}

// Waits until all who use it have the new version, and says who has not.
host::WaitFor until_given(const Context&) { return host::WaitFor::all; }

Result<Code> tell_given(Context& context, CommandDoor& door, const MeantNames& meant, const host::Answer& answer) {
  const bool rotated = answer.fields.contains("newVersion");
  const std::string version = answer.text(rotated ? "newVersion" : "version");
  print_done(context, answer, rotated ? "rotated" : "kept",
             in_words(meant, answer, rotated ? "newVersion" : "version"));
  auto view = door.read<views::SecretView>("secret",
                                           {{"environment", meant.environment}, {"name", context.given.text("name")}});
  if (!view) return view.error();
  for (const views::SecretUser& each : view->used_by) {
    if (each.version == version) context.output.note(each.revision + " has it");
    if (each.version != version && each.pinned) context.output.note(each.revision + " keeps version " + each.version);
  }
  for (const views::SecretUser& each : view->used_by) {
    if (each.version == version || each.pinned || each.problem.empty()) continue;
    return Error{
        .code = Code::gate_rejected,
        .message = "replicas of " + each.revision + " still have version " + each.version + ": " + each.problem,
        .next = "sluice logs " + each.revision};
  }
  return Code::ok;
}

Result<ActionCommand::Loss> all_versions(Context& context, CommandDoor& door, const MeantNames& meant) {
  const std::string name = context.given.text("name");
  ActionCommand::Loss loss{.what = "forget the secret " + name + " of " + meant.environment};
  auto view = door.read<views::SecretView>("secret", {{"environment", meant.environment}, {"name", name}});
  if (!view) return view.error();
  for (const views::KeptVersion& each : view->versions) loss.loses.push_back("version " + each.version);
  return loss;
}

std::string look_at_it(Context&, const MeantNames& meant, const host::Answer& answer) {
  if (answer.variant == "notFound") {
    const std::string name = answer.text("name");
    return answer.action == "Secret/rotate" ? "sluice secrets put " + meant.environment + " " + name
                                            : "sluice secrets list " + meant.environment;
  }
  return answer.variant == "inUse" ? "sluice secrets get " + meant.environment + " " + answer.text("name") : "";
}

}  // namespace secrets_commands

void add_secrets_commands(Commands& commands) {
  using namespace secrets_commands;
  commands.add_noun({.name = "secrets", .group = Group::operate, .summary = "Keep secrets for workloads"});
  commands.add({.name = "secrets list",
                .summary = "List secrets, and those that are still missing",
                .args = {environment_arg()},
                .options = reading_options(),
                .example = "sluice secrets list local",
                .run = list});
  commands.add({.name = "secrets get",
                .summary = "Show a secret's versions and readers, never its value",
                .args = {environment_arg(), kName},
                .options = reading_options(),
                .example = "sluice secrets get local hello/API_KEY",
                .run = get});
  commands.add(
      command_of({.name = "secrets put",
                  .action = "Secret/put",
                  .about = About::environment,
                  .summary = "Store a new version of a secret",
                  .details = "The value is typed at a prompt, piped in, or read from a file. One line break at "
                             "the end of what is piped in is left out. Workloads that use the secret are "
                             "given the new version, one replica after the other.",
                  .example = "sluice secrets put local hello/API_KEY --file api_key.txt",
                  .args = {kName, kNoValue},
                  .options = {kFile},
                  .fill = with_value,
                  .wait = until_given,
                  .tell = tell_given}));
  commands.add(command_of(
      {.name = "secrets rotate",
       .action = "Secret/rotate",
       .about = About::environment,
       .summary = "Create a new version of a secret and roll it out",
       .details =
           "Without --file and --stdin the provider makes up a value that nobody can guess. Replicas are replaced "
           "one after the other; each new one is healthy before the next old one is stopped.",
       .example = "sluice secrets rotate local hello/API_KEY",
       .args = {kName, kNoValue},
       .options = {kFile, {.name = "stdin", .help = "read the value from what is piped in"}},
       .fill = with_new_value,
       .wait = until_given,
       .next = look_at_it,
       .tell = tell_given}));
  commands.add(command_of(
      {.name = "secrets remove",
       .action = "Secret/remove",
       .about = About::environment,
       .summary = "Forget a secret with all its versions",
       .example = "sluice secrets remove local hello/API_KEY --yes",
       .args = {kName},
       .fill = [](Context& context, const MeantNames& meant) -> Result<json::object> { return named(context, meant); },
       .loses = all_versions,
       .done = "removed",
       .what = [](const MeantNames& meant,
                  const host::Answer& answer) { return answer.text("name") + " of " + meant.environment; },
       .next = look_at_it}));
  commands.add(command_of(
      {.name = "secrets rekey",
       .action = "Secret/rekey",
       .about = About::environment,
       .summary = "Encrypt an environment's secrets again, under new keys",
       .details = "The new master key is made and kept in the home, unless a file or a command provides it: 32 bytes, "
                  "raw, in hex or in base64. Afterwards the old keys open nothing.",
       .example = "sluice secrets rekey local",
       .words = {{.param = "keyFile", .value = "FILE", .help = "the file of the new master key, of mode 0600"},
                 {.param = "keyCommand", .value = "COMMAND", .help = "a command that prints the new master key"}},
       .fill = [](Context&, const MeantNames& meant) -> Result<json::object> {
         return json::object{{"provider", meant.secrets_provider}};
       },
       .done = "rekeyed",
       .what =
           [](const MeantNames& meant, const host::Answer& answer) {
             return meant.environment + ", " + write(answer.fields.at("values")) + " values";
           }}));
}

}  // namespace sluice::cli
