// sluice env-packs: which pack serves which slot of an environment.
#include <boost/json.hpp>
#include <filesystem>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/asking.h"
#include "cli/call_options.h"
#include "cli/pack_setup.h"
#include "deploy/packs.h"
#include "deploy/views/answers.h"

namespace sluice::cli {
namespace env_packs_commands {

namespace views = deploy::views;
using views::MeantNames;

// The slot that was named, or the one that is a word of the pack's path: telemetry of sluice.telemetry.stdout@1.0.0.
std::string slot_of(const Context& context) {
  if (context.given.has("slot")) return context.given.text("slot");
  std::string kind = context.given.text("kind");
  for (std::string_view slot : deploy::slots()) {
    if (kind.find("." + std::string(slot) + ".") != std::string::npos) return std::string(slot);
  }
  return "";
}

Result<json::object> pack_input(Context& context, const MeantNames&) {
  json::object input{{"slot", slot_of(context)}, {"kind", context.given.text("kind")}};
  if (context.given.has("answers-ref")) {
    const std::string file = context.given.text("answers-ref");
    if (auto answers = views::read_answers(context.disk, file); !answers) return answers.error();
    // Another process may read it, from another folder.
    std::error_code ignored;
    input["answersRef"] = std::filesystem::absolute(file, ignored).lexically_normal().string();
  }
  if (context.given.command->name == "env-packs update" && context.given.flag("allow-missing")) {
    input["allowMissing"] = true;
  }
  if (input.at("slot").as_string().empty()) {
    return Error{.code = Code::usage, .message = "say which slot the pack is to serve", .next = "add --slot telemetry"};
  }
  return input;
}

// ------------------------------------------------------------------------------------------ packs from outside

// Sees to it that the environment may use the pack, and asks what the pack wants to know.
Result<void> set_up(Context& context, CommandDoor& door, const MeantNames& meant, json::object& input) {
  const std::string kind = context.given.text("kind");
  auto pack = installed(door, kind);
  if (!pack) return pack.error();
  if (!*pack) return {};
  if (!context.given.has("slot")) input["slot"] = (*pack)->slot;
  if (!(*pack)->built_in) {
    if (auto admitted = admit(context, door, meant.environment, kind); !admitted) return admitted;
  }
  if ((*pack)->built_in && context.given.has("answers-ref")) {
    input["answers"] = "{}";  // the file's are to hold, and none of before
    return {};
  }
  // What a file of answers says besides arguments of the action is for the pack.
  json::object given;
  for (const ActionParam& each :
       params_of(context.given.command->name == "env-packs add" ? "Env/bind" : "Env/rebind")) {
    if (const json::value* value = input.if_contains(each.name)) given[each.name] = *value;
  }
  std::swap(given, input);
  for (const auto& each : input) given.erase(each.key());
  json::object answers;
  for (const auto& each : given) answers[each.key()] = each.value();
  auto complete = ask(context, {.questions = (*pack)->questions,
                                .what = kind,
                                .given = std::move(answers),
                                .keep_secret = [&](const std::string& name, const std::string& value) {
                                  return keep_secret(door, meant.environment, "packs/" + name, value);
                                }});
  if (!complete) return complete.error();
  if (!complete->empty()) input["answers"] = write(*complete);
  return {};
}

Result<std::optional<json::object>> schema_of_pack(Context& context, CommandDoor& door) {
  auto pack = installed(door, context.given.text("kind"));
  if (!pack) return pack.error();
  if (!*pack) return std::optional<json::object>();
  const std::vector<bundle::Question>& asked = (*pack)->questions;
  context.output.print(bundle::answers_schema(asked, context.given.text("kind")),
                       [&](const Terminal& terminal) { return questions_table(asked, terminal); });
  return std::optional(json::object());
}

Result<json::object> source_input(Context& context, const MeantNames&) {
  std::error_code ignored;
  // Another process may read it, from another folder.
  return json::object{
      {"source", std::filesystem::absolute(context.given.text("path"), ignored).lexically_normal().string()}};
}

Result<json::object> kind_input(Context& context, const MeantNames&) {
  return json::object{{"pack", context.given.text("kind")}};
}

// It can be installed again by whoever has it.
Result<ActionCommand::Loss> forgotten_pack(Context& context, CommandDoor&, const MeantNames&) {
  return ActionCommand::Loss{.what = "forget the pack " + context.given.text("kind")};
}

std::string kept_pack(const MeantNames&, const host::Answer& answer) {
  return answer.text("pack") + (answer.text("slot").empty() ? "" : " for the slot " + answer.text("slot")) + "  " +
         answer.text("digest");
}

Result<Code> list_available(Context& context, CommandDoor& door) {
  auto answer = door.call("EnvPack/list", {});
  if (!answer) return answer.error();
  json::array packs;
  for (const deploy::BuiltInPack& each : deploy::built_in_packs()) {
    packs.push_back(json::object{{"pack", std::string(each.path) + "@" + std::string(each.major) + ".0.0"},
                                 {"slot", each.slot},
                                 {"builtIn", true}});
  }
  for (const json::value& each : answer->fields.at("packs").as_array()) {
    json::object pack = each.as_object();
    pack["builtIn"] = false;
    packs.push_back(std::move(pack));
  }
  context.output.print(packs, [&](const Terminal& terminal) {
    Table table{.columns = {{"PACK"}, {"SLOT"}, {"FROM"}, {"SUMMARY"}}, .empty = "No packs."};
    for (const json::value& each : packs) {
      const json::value* digest = each.as_object().if_contains("digest");
      const json::value* summary = each.as_object().if_contains("summary");
      table.rows.push_back({{std::string(each.at("pack").as_string())},
                            {std::string(each.at("slot").as_string())},
                            {digest == nullptr ? "built in" : std::string(digest->as_string()).substr(0, 19)},
                            {summary == nullptr ? "" : std::string(summary->as_string())}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<json::object> slot_input(Context& context, const MeantNames&) {
  return json::object{{"slot", context.given.text("slot")}};
}

std::string bound_pack(const MeantNames&, const host::Answer& answer) {
  return answer.text("slot") + "  " + answer.text("kind") +
         (answer.generation ? ", generation " + std::to_string(*answer.generation) : "");
}

std::string after_refusal(Context& context, const MeantNames& meant, const host::Answer& answer) {
  return answer.variant == "bound" ? "sluice env-packs update " + meant.environment + " " + context.given.text("kind")
                                   : "sluice env-packs list " + meant.environment;
}

Result<std::vector<views::PackDocument>> packs_of(CommandDoor& door, const std::string& environment) {
  auto document = door.read<views::EnvironmentDocument>("environment", {{"environment", environment}});
  if (!document) return document.error();
  return document->packs;
}

Result<ActionCommand::Loss> the_pack(Context& context, CommandDoor& door, const MeantNames& meant) {
  const std::string slot = context.given.text("slot");
  auto packs = packs_of(door, meant.environment);
  if (!packs) return packs.error();
  ActionCommand::Loss loss{.what = "leave the slot " + slot + " of " + meant.environment + " without a pack"};
  for (const views::PackDocument& each : *packs) {
    if (each.slot == slot) loss.loses.push_back(each.kind);
  }
  return loss;
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  if (context.given.flag("available")) return list_available(context, **door);
  auto packs = packs_of(**door, context.given.has("env") ? context.given.text("env") : "local");
  if (!packs) return packs.error();
  context.output.print(to_json(*packs), [&](const Terminal& terminal) {
    Table table{.columns = {{"SLOT"}, {"PACK"}, {"GENERATION", Align::right}, {"BEFORE"}}, .empty = "No packs."};
    for (const views::PackDocument& each : *packs) {
      table.rows.push_back(
          {{each.slot}, {each.kind}, {std::to_string(each.generation)}, {each.previous_binding_ref.value_or("")}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Arg list_environment() {
  Arg arg = environment_arg();
  arg.optional = true;
  return arg;
}

Arg slot_arg() {
  Arg arg{.name = "slot", .help = "the slot"};
  for (std::string_view each : deploy::slots()) arg.choices.emplace_back(each);
  return arg;
}

ActionCommand binding_command(const std::string& name, const std::string& action) {
  return {.name = name,
          .action = action,
          .about = About::environment,
          .summary = {},
          .words = {{.param = "packRef", .value = "REF", .help = "where the pack is; else its path"}},
          .args = {{.name = "kind", .help = "the pack, as sluice.telemetry.stdout@1.0.0"}},
          .options = {{.name = "slot", .value = "SLOT", .help = "the slot; else as in its path"},
                      {.name = "answers-ref",
                       .value = "FILE",
                       .help = "a file with its answers, as plain values by name",
                       .kind = Kind::path}},
          .fill = pack_input,
          .prepare = set_up,
          .schema = schema_of_pack,
          .done = "bound",
          .what = bound_pack,
          .next = after_refusal};
}

// A pack that lacks a secret that is in use is taken back by the kit: then the one before serves.
Result<Code> tell_bound(Context& context, CommandDoor& door, const MeantNames& meant, const host::Answer& answer) {
  if (answer.text("slot") == "secrets") {
    auto why =
        door.call("Env/whyTakenBack",
                  {{"environment", meant.environment}, {"slot", answer.text("slot")}, {"kind", answer.text("kind")}});
    if (!why) return why.error();
    if (why->code == Code::ok) {
      return Error{.code = Code::conflict,
                   .message = answer.text("kind") + " was not bound: " + why->text("message") +
                              "; the pack before serves as it did",
                   .next = "put it there first, or add --allow-missing"};
    }
  }
  print_done(context, answer, "bound", bound_pack(meant, answer));
  return Code::ok;
}

}  // namespace env_packs_commands

void add_env_packs_commands(Commands& commands) {
  using namespace env_packs_commands;
  commands.add_noun({.name = "env-packs",
                     .group = Group::operate,
                     .summary = "Choose which pack serves which slot of an environment"});
  commands.add({.name = "env-packs list",
                .summary = "List the packs of an environment",
                .details = "With --available: the packs that can be bound, those of Sluice and those installed.",
                .args = {list_environment()},
                .options = reading_options({{.name = "available", .help = "the packs that can be bound"}}),
                .example = "sluice env-packs list local",
                .run = list});
  commands.add(
      command_of({.name = "env-packs install",
                  .action = "EnvPack/install",
                  .summary = "Install a pack, so that environments can use it",
                  .details = "A pack is a folder or an archive with a pack.yaml. It is checked as `sluice pack "
                             "test` checks its concept, and kept by its digest.",
                  .example = "sluice env-packs install examples/packs/telemetry-file",
                  .args = {{.name = "path", .help = "the pack's folder or archive", .kind = Kind::path}},
                  .fill = source_input,
                  .done = "installed",
                  .what = kept_pack}));
  commands.add(command_of({.name = "env-packs uninstall",
                           .action = "EnvPack/uninstall",
                           .summary = "Remove an installed pack that no environment uses",
                           .example = "sluice env-packs uninstall acme.telemetry.file@1.0.0",
                           .args = {{.name = "kind", .help = "the pack, as acme.telemetry.file@1.0.0"}},
                           .fill = kind_input,
                           .loses = forgotten_pack,
                           .asks = false,
                           .done = "uninstalled",
                           .what = kept_pack}));
  ActionCommand add = binding_command("env-packs add", "Env/bind");
  add.summary = "Bind a pack to an empty slot";
  add.example = "sluice env-packs add local acme.gitops.flux@1.0.0";
  commands.add(command_of(std::move(add)));
  ActionCommand update = binding_command("env-packs update", "Env/rebind");
  update.summary = "Replace the pack that serves a slot";
  update.details =
      "Nothing that runs is restarted. The pack before is kept, and env-packs rollback brings it back. A pack for "
      "secrets "
      "must have each secret that is in use, else the one before stays.";
  update.options.push_back({.name = "allow-missing", .help = "bind it even if it lacks secrets that are in use"});
  update.wait = [](const Context&) { return host::WaitFor::all; };
  update.tell = tell_bound;
  update.example = "sluice env-packs update local sluice.sessions.redis@1.0.0";
  commands.add(command_of(std::move(update)));
  commands.add(command_of({.name = "env-packs rollback",
                           .action = "Env/rollback",
                           .about = About::environment,
                           .summary = "Bring back the pack that served a slot before",
                           .example = "sluice env-packs rollback local sessions",
                           .words = {{.param = "steps", .help = "how many changes to go back", .fallback = "1"}},
                           .args = {slot_arg()},
                           .fill = slot_input,
                           .done = "bound",
                           .what = bound_pack,
                           .next = after_refusal}));
  commands.add(command_of({.name = "env-packs remove",
                           .action = "Env/unbind",
                           .about = About::environment,
                           .summary = "Unbind the pack of a slot",
                           .details = "In local a default pack takes its place at once.",
                           .example = "sluice env-packs remove local gitops --dry-run",
                           .args = {slot_arg()},
                           .fill = slot_input,
                           .loses = the_pack,
                           .done = "unbound",
                           .what = bound_pack,
                           .next = after_refusal}));
}

}  // namespace sluice::cli
