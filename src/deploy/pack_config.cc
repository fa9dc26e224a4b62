// Answers are checked against their questions, as if a person had been asked.
#include "deploy/pack_config.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/canonical_json.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/terminal.h"
#include "crypto/sha256.h"
#include "deploy/host_config.h"

namespace sluice::deploy {
namespace {

constexpr size_t kMaxConfigBytes = 64 << 10;

Error bad_config(std::string message) { return {.code = Code::invalid, .message = std::move(message)}; }

Result<json::object> object_of(const std::string& text, const std::string& what) {
  if (text.empty()) return json::object();
  if (text.size() > kMaxConfigBytes) return bad_config(what + " has more than 64 kB");
  auto document = parse_json(text, what);
  if (!document) return document.error();
  if (!document->root.is_object()) return bad_config(what + " is a JSON object");
  return document->root.get_object();
}

// A member that is an object, or nothing.
Result<json::object> member_of(const json::object& object, std::string_view name, const std::string& what) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return json::object();
  if (!value->is_object()) return bad_config(what + ": " + std::string(name) + " is a JSON object");
  return value->get_object();
}

std::string_view kind_of(bundle::AnswerType type) {
  switch (type) {
    case bundle::AnswerType::string:
      return "a text";
    case bundle::AnswerType::integer:
      return "a whole number";
    case bundle::AnswerType::number:
      return "a number";
    case bundle::AnswerType::boolean:
      return "true or false";
  }
  return "";
}

bool answers_as(bundle::AnswerType type, const json::value& value) {
  switch (type) {
    case bundle::AnswerType::string:
      return value.is_string();
    case bundle::AnswerType::integer:
      return value.is_int64();
    case bundle::AnswerType::number:
      return value.is_number();
    case bundle::AnswerType::boolean:
      return value.is_bool();
  }
  return false;
}

Result<json::value> answer_to(const bundle::Question& question, const json::object& overrides,
                              const json::object& asked) {
  const std::string& name = question.name.text;
  const json::value* answer = overrides.if_contains(name);
  if (answer == nullptr) answer = asked.if_contains(name);
  if (answer == nullptr && question.default_) answer = &*question.default_;
  if (answer == nullptr) return bad_config("config " + name + " has no answer: " + question.question);
  if (!answers_as(question.type, *answer)) {
    return bad_config("config " + name + " is " + std::string(kind_of(question.type)) + ", not " +
                      truncate_to_width(write(*answer), 60));
  }
  if (!question.choices.empty() && std::ranges::find(question.choices, *answer) == question.choices.end()) {
    return bad_config("config " + name + " cannot be " + truncate_to_width(write(*answer), 60));
  }
  return *answer;
}

Result<void> check_known(const json::object& answers, const bundle::Manifest& manifest) {
  for (const auto& each : answers) {
    bool known = std::ranges::any_of(manifest.config, [&](const auto& q) { return q.name.text == each.key(); });
    if (!known) return bad_config(manifest.name.text + " asks for no config " + printable(each.key()));
  }
  return {};
}

json::object three_spaces(const PackConfig& config) {
  return {{"non_secret", config.non_secret},
          {"secret_refs", to_json(config.secret_refs)},
          {"runtime_refs", to_json(config.runtime_refs)}};
}

}  // namespace

Result<PackConfig> resolve_config(const bundle::Manifest& manifest, const ConfigRequest& request) {
  auto asked = object_of(request.asked, "the config");
  if (!asked) return asked.error();
  for (const auto& each : *asked) {
    if (each.key() != "non_secret" && each.key() != "runtime_refs") {
      return bad_config("the config has non_secret and runtime_refs, not " + printable(each.key()));
    }
  }
  auto answers = member_of(*asked, "non_secret", "the config");
  if (!answers) return answers.error();
  auto references = member_of(*asked, "runtime_refs", "the config");
  if (!references) return references.error();
  auto all_overrides = object_of(request.overrides, "the overrides");
  if (!all_overrides) return all_overrides.error();
  auto overrides = member_of(*all_overrides, manifest.name.text, "the overrides");
  if (!overrides) return overrides.error();
  if (auto known = check_known(*answers, manifest); !known) return known.error();
  if (auto known = check_known(*overrides, manifest); !known) return known.error();
  PackConfig config;
  for (const bundle::Question& each : manifest.config) {
    auto answer = answer_to(each, *overrides, *answers);
    if (!answer) return answer.error();
    config.non_secret[each.name.text] = *std::move(answer);
  }
  const std::string& pack = manifest.name.text;
  for (const bundle::VariableName& each : manifest.secrets) {
    config.secret_refs[each.text] = "secret://" + request.environment + "/" + pack + "/" + pack + "/" + each.text;
  }
  for (const auto& each : *references) {
    if (!each.value().is_string()) return bad_config("runtime_refs are texts");
    std::string reference(each.value().get_string());
    if (auto key = discovered_key(reference, request.environment); !key) return key.error();
    config.runtime_refs[std::string(each.key())] = std::move(reference);
  }
  return config;
}

json::object pack_config_document(const PackConfig& config, const std::string& pack, const std::string& revision) {
  json::object document{{"schema", "sluice.pack-config.v1"}, {"pack_id", pack}, {"revision_id", revision}};
  for (auto& each : three_spaces(config)) document[each.key()] = each.value();
  return document;
}

std::string config_digest(const PackConfig& config) {
  auto text = canonical(three_spaces(config));
  return text ? crypto::to_string(crypto::sha256(*text)) : "";
}

}  // namespace sluice::deploy
