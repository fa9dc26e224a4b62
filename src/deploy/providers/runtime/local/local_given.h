// What a program gets that is not in its bundle, gathered when it is about to be started: its config, completed by the
// defaults of the bundle's questions, and those secrets that the bundle names. Secrets come with the call as a sealed
// value; when that is gone (it lives in one process, for minutes), from a replica that runs and was started with them.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/document.h"
#include "base/result.h"
#include "bundle/manifest/manifest.h"
#include "deploy/providers/runtime/local/local_host.h"
#include "lang/run/handler.h"

namespace sluice::deploy::local_runtime {

// Why a bundle has not what it needs to run.
struct Lacking {
  std::string config;                // what is wrong with it; "" if nothing is
  std::vector<std::string> secrets;  // that the bundle names and nobody gave
  std::string reason;                // why there are none
};

std::string text_of(const Lacking& lacking);

// Those that the bundle names. `service`: whose replicas may have them.
std::variant<process::Secrets, Lacking> secrets_for(LocalHost& host, const bundle::Manifest& manifest,
                                                    const std::string& service,
                                                    const std::optional<lang::Sealed>& sealed, lang::Attempt& effect);

// What the program is told: the config, in which what runtime:// references stand for is looked up, completed by the
// defaults of the bundle's questions. `config` is the text of an object.
Result<json::object> config_for(const bundle::Manifest& manifest, const std::string& config, lang::Attempt& effect);

std::variant<Given, Lacking> given_for(LocalHost& host, const bundle::Manifest& manifest, const std::string& service,
                                       const std::string& config, const std::optional<lang::Sealed>& sealed,
                                       lang::Attempt& effect);

}  // namespace sluice::deploy::local_runtime
