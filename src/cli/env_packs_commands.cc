// sluice env-packs: which pack serves which slot of an environment.
#include <boost/json.hpp>
#include <filesystem>

#include "base/json.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/losing.h"
#include "cli/objects.h"
#include "deploy/packs.h"
#include "deploy/views/answers.h"
#include "deploy/views/documents.h"
#include "deploy/views/names.h"

namespace sluice::cli {
namespace env_packs_commands {

namespace views = deploy::views;

// The slot that was named, or the one that is a word of the pack's path: telemetry of sluice.telemetry.stdout@1.0.0.
std::string slot_of(const Context& context) {
  if (context.given.has("slot")) return context.given.text("slot");
  std::string kind = context.given.text("kind");
  for (std::string_view slot : deploy::slots()) {
    if (kind.find("." + std::string(slot) + ".") != std::string::npos) return std::string(slot);
  }
  return "";
}

Result<Code> tell(Context& context, const Answer& answer, const std::string& environment, const std::string& done) {
  if (answer.code != Code::ok) {
    return refusal_in_words(answer, answer.variant == "bound"
                                        ? "sluice env-packs update " + environment + " " + context.given.text("kind")
                                        : "sluice env-packs list " + environment);
  }
  const json::value* generation = answer.fields.if_contains("generation");
  print_done(context, answer, done,
             answer.text("slot") + "  " + answer.text("kind") +
                 (generation != nullptr ? ", generation " + write(*generation) : ""));
  return Code::ok;
}

Result<Code> act(Context& context, const std::string& action, json::object input, const std::string& done) {
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto found = (*objects)->environment();
  if (!found) return found.error();
  input["environment"] = found->id.text();
  auto full = with_answers(context, std::move(input));
  if (!full) return full.error();
  auto answer = (*objects)->change(action, *full);
  if (!answer) return answer.error();
  return tell(context, *answer, found->id.text(), done);
}

Result<json::object> pack_input(Context& context) {
  json::object input{{"slot", slot_of(context)}};
  if (context.given.has("kind")) input["kind"] = context.given.text("kind");
  if (context.given.has("pack-ref")) input["packRef"] = context.given.text("pack-ref");
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

Result<Code> add(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Env/bind");
  auto input = pack_input(context);
  if (!input) return input.error();
  return act(context, "Env/bind", *input, "bound");
}

Result<Code> update(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Env/rebind");
  auto input = pack_input(context);
  if (!input) return input.error();
  return act(context, "Env/rebind", *input, "bound");
}

Result<Code> remove(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Env/unbind");
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto found = (*objects)->environment();
  if (!found) return found.error();
  const std::string slot = context.given.text("slot");
  std::vector<std::string> loses;
  for (const auto& each : (*objects)->states().env().packs(found->id).values()) {
    if (each.slot == slot) loses.push_back(each.kind);
  }
  auto answer = lose(context, **objects,
                     {.action = "Env/unbind",
                      .input = {{"environment", found->id.text()}, {"slot", slot}},
                      .what = "leave the slot " + slot + " of " + found->id.text() + " without a pack",
                      .loses = std::move(loses)});
  if (!answer) return answer.error();
  if (!*answer) return Code::ok;
  return tell(context, **answer, found->id.text(), "unbound");
}

Result<Code> rollback(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Env/rollback");
  return act(context, "Env/rollback",
             {{"slot", context.given.text("slot")}, {"steps", context.given.number("steps").value_or(1)}}, "bound");
}

Result<Code> list(Context& context) {
  auto objects = Objects::to_read(context);
  if (!objects) return objects.error();
  auto found = (*objects)->environment();
  if (!found) return found.error();
  json::array packs = views::environment_document((*objects)->states(), *found).at("packs").as_array();
  context.output.print(packs, [&](const Terminal& terminal) {
    Table table{.columns = {{"SLOT"}, {"PACK"}, {"GENERATION", Align::right}, {"BEFORE"}}, .empty = "No packs."};
    for (const json::value& each : packs) {
      const json::value& before = each.at("previous_binding_ref");
      table.rows.push_back({{std::string(each.at("slot").as_string())},
                            {std::string(each.at("kind").as_string())},
                            {write(each.at("generation"))},
                            {before.is_null() ? "" : std::string(before.as_string())}});
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

std::vector<Option> pack_options(bool kind) {
  std::vector<Option> options = {{.name = "pack-ref", .value = "REF", .help = "where the pack is; else its path"},
                                 {.name = "answers-ref",
                                  .value = "FILE",
                                  .help = "the answers that it is set up with, plain values by name",
                                  .kind = Kind::path}};
  if (kind) options.insert(options.begin(), {.name = "slot", .value = "SLOT", .help = "the slot; else as in its path"});
  return options;
}

}  // namespace env_packs_commands

void add_env_packs_commands(Commands& commands) {
  using namespace env_packs_commands;
  commands.add_noun(
      {.name = "env-packs", .group = Group::operate, .summary = "Say which pack serves which slot of an environment"});
  const Arg kind{.name = "kind", .help = "the pack, as sluice.telemetry.stdout@1.0.0"};
  commands.add({.name = "env-packs list",
                .summary = "List the packs of an environment",
                .args = {environment_arg()},
                .options = reading_options(),
                .example = "sluice env-packs list local",
                .run = list});
  commands.add({.name = "env-packs add",
                .summary = "Have a pack serve a slot that is empty",
                .args = {environment_arg(), kind},
                .options = changing_options(pack_options(true)),
                .example = "sluice env-packs add staging sluice.state.memory@1.0.0",
                .run = add});
  commands.add({.name = "env-packs update",
                .summary = "Put a pack in the place of another",
                .details = "Nothing that runs is restarted. The pack before is kept, and env-packs rollback brings it "
                           "back.",
                .args = {environment_arg(), kind},
                .options = changing_options(pack_options(true)),
                .example = "sluice env-packs update local sluice.sessions.redis@1.0.0",
                .run = update});
  commands.add({.name = "env-packs rollback",
                .summary = "Bring back the pack that served a slot before",
                .args = {environment_arg(), slot_arg()},
                .options = changing_options({{.name = "steps",
                                              .value = "N",
                                              .help = "how many changes to go back",
                                              .kind = Kind::count,
                                              .fallback = "1"}}),
                .example = "sluice env-packs rollback local telemetry",
                .run = rollback});
  commands.add({.name = "env-packs remove",
                .summary = "Leave a slot without a pack",
                .details = "In local a default pack takes its place when the environment is next used.",
                .args = {environment_arg(), slot_arg()},
                .options = losing_options(),
                .example = "sluice env-packs remove local gitops --dry-run",
                .run = remove});
}

}  // namespace sluice::cli
