// Nothing here says a secret's value, not even when it cannot be read.
#include "deploy/providers/runtime/local/local_given.h"

#include <boost/json.hpp>
#include <stdexcept>

#include "base/json.h"
#include "bundle/manifest/answers.h"

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
  if (manifest.secrets.empty()) return process::Secrets{};
  auto all = all_secrets(host, service, sealed, effect);
  const process::Secrets known = all ? *all : process::Secrets{};
  process::Secrets named;
  Lacking lacking{.reason = all ? "others were given" : all.error().message};
  for (const bundle::VariableName& name : manifest.secrets) {
    if (auto found = known.find(name.text); found != known.end()) {
      named.insert(*found);
    } else {
      lacking.secrets.push_back(name.text);
    }
  }
  if (!lacking.secrets.empty()) return lacking;
  return named;
}

std::variant<Given, Lacking> given_for(LocalHost& host, const bundle::Manifest& manifest, const std::string& service,
                                       const std::string& config, const std::optional<lang::Sealed>& sealed,
                                       lang::Attempt& effect) {
  auto object = parse_json(config.empty() ? "{}" : config, "config");
  if (!object) return Lacking{.config = to_string(object.error())};
  auto complete = bundle::complete_answers(manifest, object->root.as_object());
  if (!complete) return Lacking{.config = to_string(complete.error())};
  auto secrets = secrets_for(host, manifest, service, sealed, effect);
  if (auto* lacking = std::get_if<Lacking>(&secrets)) return *lacking;
  return Given{.config = write(*complete), .secrets = std::get<process::Secrets>(std::move(secrets))};
}

}  // namespace sluice::deploy::local_runtime
