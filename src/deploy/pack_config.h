// The config of a revision, sluice.pack-config.v1: what is plain, what is secret (by reference), and what is found out
// while it runs (by reference). References are resolved late; no value behind one is ever here.
#pragma once

#include <map>
#include <string>

#include "base/document.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "bundle/manifest/manifest.h"

namespace sluice::deploy {

struct PackConfig {
  json::object non_secret;
  std::map<std::string, std::string> secret_refs;   // "secret://prod-eu/shop/shop/DB_PASSWORD"
  std::map<std::string, std::string> runtime_refs;  // "runtime://prod-eu/discovered/alb_dns"
};

struct ConfigRequest {
  std::string environment;
  std::string asked;      // JSON: {"non_secret": {…}, "runtime_refs": {…}}; may be empty
  std::string overrides;  // JSON by pack, of the deployment; may be empty
};

// Answers the manifest's questions: by its overrides, else by what was asked for, else by its defaults. The error names
// the question that has no answer, or the answer that nobody asked for, or one of another type.
Result<PackConfig> resolve_config(const bundle::Manifest& manifest, const ConfigRequest& request);

// As the document of a revision.
json::object pack_config_document(const PackConfig& config, const std::string& pack, const std::string& revision);
// "sha256:…" over the canonical JSON of non_secret, secret_refs and runtime_refs, and nothing else.
std::string config_digest(const PackConfig& config);

}  // namespace sluice::deploy
