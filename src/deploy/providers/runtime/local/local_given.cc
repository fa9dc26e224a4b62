// Nothing here says a secret's value, not even when it cannot be read.
#include "deploy/providers/runtime/local/local_given.h"

#include <algorithm>
#include <boost/json.hpp>
#include <stdexcept>

#include "base/json.h"
#include "bundle/manifest/answers.h"
#include "deploy/pack_config.h"
#include "deploy/secret_names.h"
#include "deploy/views/bundle_settings.h"
#include "oci/auth.h"

namespace sluice::deploy::local_runtime {
namespace {

Result<process::Secrets> all_secrets(LocalHost& host, const std::string& service,
                                     const std::optional<lang::Sealed>& sealed, lang::Attempt& effect) {
  std::string gone = "none were given";
  if (sealed) {
    try {
      return process::unseal(effect.open(*sealed));
    } catch (const std::runtime_error& error) {
      gone = error.what();
    }
  }
  auto names = host.replicas_of(service);
  if (names) {
    if (auto held = host.secrets_of(*names)) return held;
  }
  return Error{.code = Code::not_found, .message = gone};
}

// The environment's login at the registry of the bundle's image; without one, or if it cannot be opened any more, there
// may be one in this machine's files.
std::optional<oci::Login> login_for(const bundle::Manifest& manifest, const std::optional<lang::Sealed>& sealed,
                                    lang::Attempt& effect) {
  if (!manifest.image || bundle::is_layout(*manifest.image) || !sealed) return std::nullopt;
  try {
    auto all = process::unseal(effect.open(*sealed));
    if (!all) return std::nullopt;
    auto found = all->find(std::string(kRegistryLogin));
    if (found == all->end()) return std::nullopt;
    auto login = oci::parse_login(found->second);
    return login ? std::optional(*std::move(login)) : std::nullopt;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

// Why the system would not give it to the program as a variable; empty if it would.
std::string fault_as_variable(const bundle::Manifest& manifest, const std::string& name, const std::string& value) {
  constexpr size_t kMostBytes = 128 << 10;  // of NAME=VALUE and its end
  if (bundle::secrets_as_of(manifest) != bundle::SecretsAs::env) return "";
  const bool large = name.size() + value.size() + 2 > kMostBytes;
  if (!large && value.find('\0') == std::string::npos) return "";
  return "the secret " + name + " cannot be a variable, because it has " +
         (large ? "more than 128 kB" : "a NUL in it") + "; write secrets_as: file in bundle.yaml";
}

}  // namespace

std::string text_of(const Lacking& lacking) {
  if (!lacking.config.empty()) return lacking.config;
  std::string names;
  for (const std::string& each : lacking.secrets) names += (names.empty() ? "" : ", ") + each;
  return "it has no " + names + " among its secrets: " + lacking.reason +
         "; give them with the deployment, as a JSON object of texts";
}

std::variant<process::Secrets, Lacking> secrets_for(LocalHost& host, const bundle::Manifest& manifest,
                                                    const std::string& service,
                                                    const std::optional<lang::Sealed>& sealed, lang::Attempt& effect) {
  std::vector<std::string> asked;  // by questions; what is hidden or not required may not be there
  for (const bundle::Question& each : manifest.config) {
    if (each.secret) asked.push_back(bundle::secret_variable(each));
  }
  if (manifest.secrets.empty() && asked.empty()) return process::Secrets{};
  auto all = all_secrets(host, service, sealed, effect);
  const process::Secrets known = all ? *all : process::Secrets{};
  process::Secrets named;
  Lacking lacking{.reason = all ? "others were given" : all.error().message};
  for (const bundle::VariableName& name : manifest.secrets) {
    if (auto found = known.find(name.text); found != known.end()) {
      if (std::string fault = fault_as_variable(manifest, found->first, found->second); !fault.empty()) {
        return Lacking{.config = fault};
      }
      named.insert(*found);
    } else {
      lacking.secrets.push_back(name.text);
    }
  }
  if (!lacking.secrets.empty()) return lacking;
  for (const std::string& name : asked) {
    auto found = known.find(name);
    if (found == known.end()) continue;
    if (std::string fault = fault_as_variable(manifest, name, found->second); !fault.empty()) {
      return Lacking{.config = fault};
    }
    named.insert(*found);
  }
  return named;
}

Result<json::object> config_for(const bundle::Manifest& manifest, const std::string& config, lang::Attempt& effect) {
  auto object = parse_json(config.empty() ? "{}" : config, "config");
  if (!object) return object.error();
  json::object told = object->root.as_object();
  for (auto& each : told) {
    if (!is_runtime_reference(each.value())) continue;
    const std::string reference(each.value().get_string());
    auto found = views::found_by(effect.read(), reference);
    if (!found) return Error{.code = Code::not_found, .message = "nothing has found out " + reference};
    each.value() = *found;
    auto question = std::ranges::find_if(manifest.config, [&](const auto& q) { return q.name.text == each.key(); });
    if (question == manifest.config.end()) continue;
    auto value = bundle::typed_answer(*question, *found);
    if (!value) {
      return Error{.code = Code::invalid,
                   .message = reference + " is no " + question->name.text + ": " + value.error().message};
    }
    each.value() = *std::move(value);
  }
  return bundle::complete_answers(manifest, std::move(told));
}

std::variant<Given, Lacking> given_for(LocalHost& host, const bundle::Manifest& manifest, const std::string& service,
                                       const std::string& config, const std::optional<lang::Sealed>& sealed,
                                       lang::Attempt& effect) {
  auto complete = config_for(manifest, config, effect);
  if (!complete) return Lacking{.config = to_string(complete.error())};
  auto secrets = secrets_for(host, manifest, service, sealed, effect);
  if (auto* lacking = std::get_if<Lacking>(&secrets)) return *lacking;
  Given given{.config = write(*complete),
              .secrets = std::get<process::Secrets>(std::move(secrets)),
              .registry_login = login_for(manifest, sealed, effect)};
  for (const bundle::Question& each : manifest.config) {
    const json::value* value = each.variable && !each.secret ? complete->if_contains(each.name.text) : nullptr;
    if (value == nullptr) continue;
    given.variables[each.variable->text] = value->is_string() ? std::string(value->get_string()) : write(*value);
  }
  return given;
}

}  // namespace sluice::deploy::local_runtime
