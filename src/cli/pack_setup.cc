// Secrets are held back until there is an environment to keep them in.
#include "cli/pack_setup.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "cli/asking.h"
#include "deploy/packs.h"
#include "deploy/views/documents.h"

namespace sluice::cli {
namespace pack_setup {

namespace views = deploy::views;

struct BasePack {
  std::string slot;
  std::string kind;
  std::vector<bundle::Question> questions;
  bool built_in = false;
  json::object answers;
};

// Those that are installed or built in, and ask anything.
Result<std::vector<BasePack>> asking_packs(CommandDoor& door, const std::string& base) {
  auto document = door.read<views::EnvironmentDocument>("environment", {{"environment", base}});
  if (!document) return document.error();
  auto config = door.read<views::ConfigDocument>("config", {{"environment", base}});
  if (!config) return config.error();
  std::vector<BasePack> all;
  for (const views::PackDocument& each : document->packs) {
    auto pack = installed(door, each.kind);
    if (!pack) return pack.error();
    if (!*pack || (*pack)->questions.empty()) continue;
    BasePack found{.slot = each.slot,
                   .kind = each.kind,
                   .questions = (*pack)->questions,
                   .built_in = (*pack)->built_in,
                   .answers = {}};
    auto answered = std::ranges::find(config->setup, each.slot, &views::AnsweredPackDocument::slot);
    if (answered != config->setup.end() && answered->answers.is_object()) {
      found.answers = answered->answers.get_object();
    }
    all.push_back(std::move(found));
  }
  return all;
}

bool is_open(const bundle::Question& question, const BasePack& pack, const json::object& answers) {
  return question.required && !question.default_ && !answers.contains(question.name.text) &&
         bundle::is_visible(question, pack.questions, answers);
}

}  // namespace pack_setup

Result<std::optional<OutsidePack>> installed(CommandDoor& door, const std::string& kind) {
  using Found = std::optional<OutsidePack>;
  if (kind.empty()) return Found();
  auto answer = door.call("EnvPack/describe", {{"pack", kind}});
  if (!answer) return answer.error();
  if (answer->variant != "ok") {
    auto descriptor = deploy::parse_descriptor(kind);
    const deploy::BuiltInPack* own = descriptor ? deploy::find_built_in(descriptor->path) : nullptr;
    if (own == nullptr) return Found();
    return Found(
        OutsidePack{.slot = std::string(own->slot), .questions = deploy::questions_of(*own), .built_in = true});
  }
  auto parsed = parse_json(answer->text("questions"));
  if (!parsed) return parsed.error();
  auto questions = read<std::vector<bundle::Question>>(parsed->root);
  if (!questions) return questions.error();
  return Found(OutsidePack{answer->text("slot"), *std::move(questions)});
}

Result<void> admit(Context& context, CommandDoor& door, const std::string& environment, const std::string& kind) {
  auto admitted =
      door.call("EnvPack/admit", {{"pack", kind}, {"environment", environment}}, host::WaitFor::answer, "admit");
  if (!admitted) return admitted.error();
  if (admitted->code == Code::ok) return {};
  Error error = refusal_in_words(context, *admitted);
  error.message = kind + " may not be used in " + environment + ": " + error.message + "; nothing was changed";
  error.next = "sluice pack sign PATH, install it again, and sluice trust add KEY --bundle packs";
  return error;
}

Result<std::vector<SlotSetup>> ask_for_packs(Context& context, CommandDoor& door, const std::string& base,
                                             json::object& input) {
  using namespace pack_setup;
  auto packs = asking_packs(door, base);
  if (!packs) return packs.error();
  std::vector<SlotSetup> setups;
  for (const BasePack& pack : *packs) {
    json::object answers = pack.answers;
    const json::value* given = input.if_contains(pack.slot);
    if (given != nullptr && !given->is_object()) {
      return Error{.code = Code::invalid,
                   .message = pack.slot + " in the answers is an object, the answers to what " + pack.kind +
                              " asks; nothing was changed"};
    }
    const bool said = given != nullptr;
    if (said) {
      for (const auto& each : given->get_object()) answers[each.key()] = each.value();
      input.erase(pack.slot);
    }
    const bool open =
        std::ranges::any_of(pack.questions, [&](const auto& each) { return is_open(each, pack, answers); });
    if (!said && !open) continue;
    // What has a default is not asked for: it can be changed with env-packs update.
    for (const bundle::Question& each : pack.questions) {
      if (each.default_ && !answers.contains(each.name.text)) answers[each.name.text] = *each.default_;
    }
    SlotSetup setup{.slot = pack.slot, .kind = pack.kind, .built_in = pack.built_in, .answers = {}, .secrets = {}};
    auto complete = ask(context, {.questions = pack.questions,
                                  .what = pack.kind,
                                  .given = std::move(answers),
                                  .keep_secret = [&](const std::string& name, const std::string& value) {
                                    setup.secrets.emplace_back(name, value);
                                    return Result<std::string>("");
                                  }});
    if (!complete) return complete.error();
    setup.answers = *std::move(complete);
    setups.push_back(std::move(setup));
  }
  return setups;
}

Result<void> set_up_packs(Context& context, CommandDoor& door, const std::string& environment,
                          std::vector<SlotSetup> setups) {
  for (SlotSetup& each : setups) {
    if (!each.built_in) {
      if (auto admitted = admit(context, door, environment, each.kind); !admitted) return admitted;
    }
    for (const auto& [name, value] : each.secrets) {
      auto reference = keep_secret(door, environment, "packs/" + name, value);
      if (!reference) return reference.error();
      each.answers[name] = *std::move(reference);
    }
    auto bound = door.call(
        "Env/rebind",
        {{"environment", environment}, {"slot", each.slot}, {"kind", each.kind}, {"answers", write(each.answers)}},
        host::WaitFor::answer, each.slot);
    if (!bound) return bound.error();
    if (bound->code != Code::ok) return door.refusal(*bound);
  }
  return {};
}

Result<json::object> schemas_of_packs(CommandDoor& door, const std::string& base) {
  auto packs = pack_setup::asking_packs(door, base);
  if (!packs) return packs.error();
  json::object schemas;
  for (const auto& each : *packs) schemas[each.slot] = bundle::answers_schema(each.questions, each.kind);
  return schemas;
}

}  // namespace sluice::cli
