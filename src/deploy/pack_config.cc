// Answers are checked against their questions, as if a person had been asked.
#include "deploy/pack_config.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/canonical_json.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/nearest.h"
#include "base/terminal.h"
#include "crypto/sha256.h"
#include "deploy/host_config.h"
#include "deploy/run_settings.h"
#include "deploy/secret_names.h"

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

constexpr std::string_view kRuntime = "runtime://";

const bundle::Question* find_question(const Asks& asks, std::string_view name) {
  auto found = std::ranges::find_if(asks.questions, [&](const auto& each) { return each.name.text == name; });
  return found == asks.questions.end() ? nullptr : &*found;
}

Error no_setting(const Asks& asks, std::string_view name) {
  std::vector<std::string> names;
  for (const bundle::Question& one : asks.questions) names.push_back(one.name.text);
  auto near = nearest(name, std::span<const std::string>(names));
  return bad_config(asks.bundle + " has no setting " + printable(name) + (near ? "; did you mean " + *near + "?" : ""));
}

Result<void> check_known(const json::object& answers, const Asks& asks) {
  for (const auto& each : answers) {
    if (find_question(asks, each.key()) == nullptr) return no_setting(asks, each.key());
  }
  return {};
}

// The reference that an answer to a secret question is.
Result<std::string> secret_answer(const bundle::Question& question, const std::string& environment,
                                  const std::string& bundle, const json::value& answer) {
  const std::string& name = question.name.text;
  if (!bundle::is_secret_reference(answer)) {
    return Error{.code = Code::invalid,
                 .message = "config " + name + " is a secret, and its value is no setting",
                 .next = "keep it among the secrets of " + environment + ", as " + bundle + "/" +
                         bundle::secret_variable(question)};
  }
  auto reference = parse_secret_reference(answer.get_string());
  if (!reference) return bad_config("config " + name + ": " + reference.error().message);
  if (reference->environment != environment) {
    return bad_config("config " + name + ": a secret of " + reference->environment + " is none of " + environment);
  }
  return std::string(answer.get_string());
}

std::string own_reference(const std::string& environment, const std::string& bundle, const std::string& variable) {
  return "secret://" + environment + "/" + bundle + "/" + bundle + "/" + variable;
}

json::object three_spaces(const PackConfig& config) {
  return {{"non_secret", config.non_secret},
          {"secret_refs", to_json(config.secret_refs)},
          {"runtime_refs", to_json(config.runtime_refs)}};
}

}  // namespace

Asks asks_of(const bundle::Manifest& manifest) {
  Asks asks{.bundle = manifest.name.text, .questions = manifest.config};
  for (const bundle::VariableName& each : manifest.secrets) asks.secrets.push_back(each.text);
  return asks;
}

std::string write_asks(const Asks& asks) { return write(to_json(asks)); }

Result<Asks> read_asks(const std::string& text) {
  auto document = parse_json(text, "what the bundle asks");
  if (!document) return document.error();
  return read<Asks>(*document);
}

bool is_runtime_reference(const json::value& answer) {
  return answer.is_string() && std::string_view(answer.get_string()).starts_with(kRuntime);
}

Result<void> check_answer(const Asks& asks, const std::string& environment, const std::string& name,
                          const json::value& answer) {
  if (auto known = check_known({{name, answer}}, asks); !known) return known;
  const bundle::Question& question = *find_question(asks, name);
  if (question.secret) {
    auto reference = secret_answer(question, environment, asks.bundle, answer);
    if (!reference) return reference.error();
    return {};
  }
  if (is_runtime_reference(answer)) {
    auto key = discovered_key(answer.get_string(), environment);
    if (!key) return key.error();
    return {};
  }
  if (std::string fault = bundle::fault_of_answer(question, answer); !fault.empty()) {
    return bad_config("config " + name + ": " + fault);
  }
  return {};
}

std::string fault_of_value(const std::optional<Asks>& asks, const std::string& environment, const std::string& name,
                           const std::string& value) {
  if (auto sound = JsonScalar<bundle::QuestionName>::parse(name); !sound) return sound.error().message;
  if (value.empty()) return "";
  if (value.size() > kMaxConfigBytes) return name + " has more than 64 kB";
  auto parsed = parse_json(value, name);
  if (!parsed) return to_string(parsed.error());
  if (!asks) return "";
  auto fits = check_answer(*asks, environment, name, parsed->root);
  if (fits) return "";
  return fits.error().message;
}

Result<PackConfig> resolve_config(const bundle::Manifest& manifest, const ConfigRequest& request) {
  return resolve_config(asks_of(manifest), request);
}

Result<PackConfig> resolve_config(const Asks& asks, const ConfigRequest& request) {
  auto asked = object_of(request.asked, "the config");
  if (!asked) return asked.error();
  for (const auto& each : *asked) {
    if (each.key() != "non_secret" && each.key() != "runtime_refs" && each.key() != "running") {
      return bad_config("the config has non_secret, runtime_refs and running, not " + printable(each.key()));
    }
  }
  auto answers = member_of(*asked, "non_secret", "the config");
  if (!answers) return answers.error();
  auto references = member_of(*asked, "runtime_refs", "the config");
  if (!references) return references.error();
  auto all_overrides = object_of(request.overrides, "the overrides");
  if (!all_overrides) return all_overrides.error();
  auto overrides = member_of(*all_overrides, asks.bundle, "the overrides");
  if (!overrides) return overrides.error();
  if (auto known = check_known(*answers, asks); !known) return known.error();
  if (auto known = check_known(*overrides, asks); !known) return known.error();
  auto running = member_of(*asked, "running", "the config");
  if (!running) return running.error();
  if (auto sound = read_run_settings(*running); !sound) return bad_config("running: " + to_string(sound.error()));
  PackConfig config;
  config.running = *std::move(running);
  json::object given;
  auto lay = [&](const json::object& layer, SettingFrom from) {
    for (const auto& each : layer) {
      if (find_question(asks, each.key()) == nullptr) continue;
      given[each.key()] = each.value();
      config.from[std::string(each.key())] = from;
    }
  };
  lay(request.answers, SettingFrom::environment);
  lay(*answers, SettingFrom::deployment);
  for (const auto& each : *references) {
    if (!each.value().is_string()) return bad_config("runtime_refs are texts");
    if (auto key = discovered_key(each.value().get_string(), request.environment); !key) return key.error();
    // One that no question asks for is told all the same.
    if (find_question(asks, each.key()) == nullptr) {
      config.runtime_refs[std::string(each.key())] = std::string(each.value().get_string());
    }
  }
  lay(*references, SettingFrom::deployment);
  lay(*overrides, SettingFrom::deployment);
  for (const bundle::Question& each : asks.questions) {
    const std::string& name = each.name.text;
    const json::value* answer = given.if_contains(name);
    if (!bundle::is_visible(each, asks.questions, given)) {
      config.from.erase(name);
      continue;
    }
    if (answer != nullptr) {
      if (auto fits = check_answer(asks, request.environment, name, *answer); !fits) return fits.error();
    } else {
      config.from[name] = SettingFrom::bundle;
      if (!each.required && !each.default_) continue;
    }
    if (each.secret) {
      const std::string variable = bundle::secret_variable(each);
      config.secret_refs[variable] = answer != nullptr ? std::string(answer->get_string())
                                                       : own_reference(request.environment, asks.bundle, variable);
    } else if (answer != nullptr && is_runtime_reference(*answer)) {
      config.runtime_refs[name] = std::string(answer->get_string());
    } else if (answer != nullptr || each.default_) {
      config.non_secret[name] = answer != nullptr ? *answer : *each.default_;
    } else {
      return bad_config("config " + name + " has no answer: " + each.question);
    }
  }
  for (const std::string& each : asks.secrets) {
    config.secret_refs[each] = own_reference(request.environment, asks.bundle, each);
  }
  return config;
}

json::object program_config(const PackConfig& config) {
  json::object told = config.non_secret;
  for (const auto& [name, reference] : config.runtime_refs) told[name] = reference;
  return told;
}

Result<void> check_unset(const bundle::Manifest& manifest, const std::string& before,
                         const std::vector<std::string>& unset) {
  const Asks asks = asks_of(manifest);
  auto config = object_of(before, "the config");
  auto was_set = [&](const std::string& name) {
    for (const char* part : {"non_secret", "runtime_refs"}) {
      auto values = config ? member_of(*config, part, "the config") : config;
      if (values && values->contains(name)) return true;
    }
    return false;
  };
  for (const std::string& each : unset) {
    if (find_question(asks, each) == nullptr && !was_set(each)) return no_setting(asks, each);
  }
  return {};
}

std::string carried_config(const bundle::Manifest& manifest, const std::string& before, const std::string& asked,
                           const std::vector<std::string>& unset) {
  // What is no object is refused when the config is resolved.
  auto part = [](const std::string& text, std::string_view name) {
    auto object = object_of(text, "the config");
    auto found = object ? member_of(*object, name, "the config") : object;
    return found ? *found : json::object();
  };
  auto carries = [&](const std::string& name, std::string_view otherwise) {
    const bool wanted = std::ranges::any_of(manifest.config, [&](const auto& each) { return each.name.text == name; });
    return wanted && !part(asked, otherwise).contains(name) && std::ranges::find(unset, name) == unset.end();
  };
  json::object config;
  auto now = object_of(asked, "the config");
  const bool said = now && now->contains("running");
  if (auto running = part(said ? asked : before, "running"); !running.empty()) config["running"] = std::move(running);
  for (auto [name, otherwise] : {std::pair("non_secret", "runtime_refs"), {"runtime_refs", "non_secret"}}) {
    json::object all;
    for (const auto& each : part(before, name)) {
      if (carries(std::string(each.key()), otherwise)) all[each.key()] = each.value();
    }
    for (const auto& each : part(asked, name)) all[each.key()] = each.value();
    config[name] = std::move(all);
  }
  return write(config);
}

json::object pack_config_document(const PackConfig& config, const std::string& pack, const std::string& revision) {
  json::object document{{"schema", "sluice.pack-config.v1"}, {"pack_id", pack}, {"revision_id", revision}};
  for (auto& each : three_spaces(config)) document[each.key()] = each.value();
  return document;
}

std::string config_digest(const PackConfig& config) {
  json::object whole = three_spaces(config);
  if (!config.running.empty()) whole["running"] = config.running;
  auto text = canonical(whole);
  return text ? crypto::to_string(crypto::sha256(*text)) : "";
}

}  // namespace sluice::deploy
