// Files of answers are read when somebody looks, never kept. What was answered to a pack's questions is in its binding.
#include "deploy/views/answers.h"

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/yaml.h"
#include "deploy/views/states.h"
#include "env.gen.h"

namespace sluice::deploy::views {
namespace {

constexpr size_t kMaxAnswersBytes = size_t{64} << 10U;

}  // namespace

std::vector<PackAnswers> pack_answers(const lang::Snapshot& snapshot, const std::string& environment) {
  const States states(snapshot);
  std::vector<PackAnswers> all;
  for (const env::EnvPack& each : states.env().packs(env::EnvId(environment)).values()) {
    if (each.answersRef && !each.answersRef->empty()) all.push_back({each.slot, each.kind, *each.answersRef});
  }
  return all;
}

Result<Document> read_answers(Disk& disk, const std::string& file) {
  auto text = read_file(disk, file, kMaxAnswersBytes);
  if (!text) return text.error();
  auto document = parse_yaml(*text, file);
  if (!document) return document;
  if (!document->root.is_object()) {
    return Error{.code = Code::invalid, .message = file + " holds no answers by their names"};
  }
  for (const auto& each : document->root.get_object()) {
    const json::value& value = each.value();
    if (value.is_string() || value.is_number() || value.is_bool()) continue;
    const std::string path = "/" + std::string(each.key());
    return Error{.code = Code::invalid,
                 .message = "an answer is a text, a number, true or false",
                 .path = path,
                 .position = document->position_of(path)};
  }
  return document;
}

std::string SlotAnswers::text(std::string_view name) const {
  const json::value* value = values.if_contains(name);
  if (value == nullptr) return "";
  return value->is_string() ? std::string(value->get_string()) : write(*value);
}

Result<SlotAnswers> answers_of_slot(const lang::Snapshot& snapshot, Disk& disk, const std::string& environment,
                                    std::string_view slot) {
  const States states(snapshot);
  SlotAnswers all;
  for (const env::EnvPack& each : states.env().packs(env::EnvId(environment)).values()) {
    if (each.slot != slot) continue;
    if (each.answersRef && !each.answersRef->empty()) {
      auto document = read_answers(disk, *each.answersRef);
      if (!document) return document.error();
      all.values = document->root.get_object();
    }
    auto own = each.answers ? parse_json(*each.answers) : Result<Document>(Error{});
    if (!own || !own->root.is_object()) continue;
    for (const auto& answer : own->root.get_object()) all.values[answer.key()] = answer.value();
  }
  return all;
}

std::optional<Finding> examine_answers(Disk& disk, const std::string& environment, const PackAnswers& answers) {
  auto document = read_answers(disk, answers.file);
  if (document) return std::nullopt;
  // A pack that was not set up cannot be trusted to do its work; without a deployer there is none to do.
  return Finding{.level = answers.slot == "deployer" ? Finding::Level::red : Finding::Level::yellow,
                 .what = "the answers of " + answers.kind + " cannot be used: " + to_string(document.error()),
                 .next = "bring " + answers.file + " back, or bind the pack in " + environment + " with other answers"};
}

}  // namespace sluice::deploy::views
