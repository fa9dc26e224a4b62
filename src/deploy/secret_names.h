// How secrets are named. In an environment a secret is BUNDLE/NAME, or BUNDLE/PACK/NAME where a pack of the bundle has
// one of its own; documents refer to it as secret://ENV/BUNDLE/PACK/NAME, in which a bundle is its own first pack.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::deploy {

// Under this name, which no variable can have, a runtime finds beside a bundle's secrets the environment's login at the
// registry of its image.
inline constexpr std::string_view kRegistryLogin = "registry login";

struct SecretReference {
  std::string environment;
  std::string name;  // "hello/API_KEY"

  bool operator==(const SecretReference&) const = default;
};

Result<SecretReference> parse_secret_reference(std::string_view reference);

// Why this names no secret; empty if it does.
std::string fault_of_secret_name(std::string_view name);

// What a place for variables calls it: HELLO_API_KEY of hello/api_key.
std::string variable_of_secret(std::string_view name);

}  // namespace sluice::deploy
