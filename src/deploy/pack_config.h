// The config of a revision, sluice.pack-config.v1: what is plain, what is secret (by reference), and what is found out
// while it runs (by reference). References are resolved late; no value behind one is ever here.
//
// A setting comes from the bundle's default, from the environment's answers, or from the deployment's own; each
// overrides the one before.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "bundle/manifest/manifest.h"

namespace sluice::deploy {

// What a bundle asks for, as its revisions remember it.
struct Asks {
  std::string bundle;
  std::vector<bundle::Question> questions;
  std::vector<std::string> secrets;  // the variables of `secrets:`
  static constexpr std::string_view kDefaulted[] = {"questions", "secrets"};
};
BOOST_DESCRIBE_STRUCT(Asks, (), (bundle, questions, secrets))
Asks asks_of(const bundle::Manifest& manifest);
std::string write_asks(const Asks& asks);
Result<Asks> read_asks(const std::string& text);

enum class SettingFrom { bundle, environment, deployment };

struct PackConfig {
  json::object non_secret;
  std::map<std::string, std::string> secret_refs;   // "secret://prod-eu/shop/shop/DB_PASSWORD", by variable
  std::map<std::string, std::string> runtime_refs;  // "runtime://prod-eu/discovered/alb_dns"
  std::map<std::string, SettingFrom> from;          // by question; no part of the config
  json::object running;                             // how it runs (run_settings.h); empty: as its bundle says
};

struct ConfigRequest {
  std::string environment;
  std::string asked;          // JSON: {"non_secret": {…}, "runtime_refs": {…}, "running": {…}}; may be empty
  std::string overrides;      // JSON by pack, of the deployment; may be empty
  json::object answers = {};  // of the environment, to what the bundle asks; what it does not ask is not looked at
};

// Answers the questions: by the overrides, else by what was asked for, else by the environment's answers, else by
// their defaults. An answer that is a runtime:// or secret:// reference stays one. The error names the question that
// has no answer, or the answer that nobody asked for, or one of another type.
Result<PackConfig> resolve_config(const Asks& asks, const ConfigRequest& request);
Result<PackConfig> resolve_config(const bundle::Manifest& manifest, const ConfigRequest& request);

// Why this cannot be an answer to what the bundle asks; names the nearest question if there is no such one.
Result<void> check_answer(const Asks& asks, const std::string& environment, const std::string& name,
                          const json::value& answer);

// The same of an answer as JSON, in words; empty if nothing is wrong with it. An empty one, which takes an answer away,
// always fits, and so does any to a bundle of which nothing is known.
std::string fault_of_value(const std::optional<Asks>& asks, const std::string& environment, const std::string& name,
                           const std::string& value);

// Whether an answer stands for what the deployer finds out.
bool is_runtime_reference(const json::value& answer);
// What to ask for after a version that was asked for with `before`: its settings, as far as the manifest still asks for
// them and they are not unset, and over them what is asked for now. How it runs stays unless that is asked for. All
// three as ConfigRequest::asked.
std::string carried_config(const bundle::Manifest& manifest, const std::string& before, const std::string& asked,
                           const std::vector<std::string>& unset);

// Whether everything that is to be unset is a setting, of the bundle or of the version before, which was asked for with
// `before`. The error names the nearest one.
Result<void> check_unset(const bundle::Manifest& manifest, const std::string& before,
                         const std::vector<std::string>& unset);

// As the document of a revision.
json::object pack_config_document(const PackConfig& config, const std::string& pack, const std::string& revision);
// "sha256:…" over the canonical JSON of non_secret, secret_refs and runtime_refs, of `running` where there is any, and
// of nothing else.
std::string config_digest(const PackConfig& config);
// What a program is told in SLUICE_CONFIG: plain values, and references that are resolved when it is started.
json::object program_config(const PackConfig& config);

}  // namespace sluice::deploy
