// References to secrets among the values of a request: a text that is secret://ENVIRONMENT/BUNDLE/NAME as a whole
// stands for the value of that secret.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::deploy::executor {

struct SecretWanted {
  std::string reference;  // "secret://local/shop/DB_PASSWORD"
  std::string name;       // "shop/DB_PASSWORD"

  bool operator==(const SecretWanted&) const = default;
};

// Values by reference.
using KnownSecrets = std::map<std::string, std::string, std::less<>>;

// Stands for a secret that is not known. It is also base64, so that the data of a Secret can be made of it.
inline constexpr std::string_view kUnknownSecret = "c2VjcmV0";

// Adds those that stand in the values, each once. `invalid` if one refers to no secret, or to one of another
// environment; `where` is how the values are called.
Result<void> add_secrets_wanted(const boost::json::value& values, const std::string& where,
                                const std::string& environment, std::vector<SecretWanted>& wanted);

// The values with {"$secret": VALUE} in place of each reference.
boost::json::value with_secrets(const boost::json::value& values, const KnownSecrets& known);

}  // namespace sluice::deploy::executor
