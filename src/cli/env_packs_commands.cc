// sluice env-packs: which pack serves which slot of an environment.
#include <boost/json.hpp>
#include <filesystem>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/objects.h"
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
  if (input.at("slot").as_string().empty()) {
    return Error{.code = Code::usage, .message = "say which slot the pack is to serve", .next = "add --slot telemetry"};
  }
  return input;
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
  auto packs = packs_of(**door, context.given.text("env"));
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
                       .help = "the answers that it is set up with, plain values by name",
                       .kind = Kind::path}},
          .fill = pack_input,
          .done = "bound",
          .what = bound_pack,
          .next = after_refusal};
}

}  // namespace env_packs_commands

void add_env_packs_commands(Commands& commands) {
  using namespace env_packs_commands;
  commands.add_noun(
      {.name = "env-packs", .group = Group::operate, .summary = "Say which pack serves which slot of an environment"});
  commands.add({.name = "env-packs list",
                .summary = "List the packs of an environment",
                .args = {environment_arg()},
                .options = reading_options(),
                .example = "sluice env-packs list local",
                .run = list});
  ActionCommand add = binding_command("env-packs add", "Env/bind");
  add.summary = "Have a pack serve a slot that is empty";
  add.example = "sluice env-packs add local acme.gitops.flux@1.0.0";
  commands.add(command_of(std::move(add)));
  ActionCommand update = binding_command("env-packs update", "Env/rebind");
  update.summary = "Replace the pack that serves a slot";
  update.details = "Nothing that runs is restarted. The pack before is kept, and env-packs rollback brings it back.";
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
                           .summary = "Leave a slot without a pack",
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
