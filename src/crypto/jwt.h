// JSON Web Tokens that others have signed: read and verified, strictly.
//
//   auto keys = read_jwks(text);                                  // of the issuer
//   auto claims = verify_jwt(token, *keys, {.issuer = …, .audience = "sluice", .now_ms = …});
//
// Only RS256, PS256, ES256 and EdDSA count, each with a key of its own kind: a token cannot choose `none`, nor have a
// public key taken for a shared secret. It must say when it ends; one from the future, or that has ended more than a
// minute ago, is refused.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::crypto {

inline constexpr size_t kMaxJwtBytes = 16 * 1024;

// A public key of an issuer.
struct Jwk {
  std::string id;    // "kid"; may be empty
  std::string kind;  // RSA, EC or OKP
  std::string alg;   // the only one that it is for; empty: any of its kind
  std::string n, e;  // of RSA
  std::string x, y;  // of P-256; of Ed25519 x alone
};
// Keys that cannot verify (for encryption, of other kinds) are left out.
Result<std::vector<Jwk>> read_jwks(std::string_view text);

struct JwtRules {
  std::string issuer;
  std::string audience;
  int64_t now_ms = 0;
  std::string nonce = {};  // that it must have; empty: any
};

// Whether a text could be a token at all: three parts of letters, digits, - and _.
bool looks_like_jwt(std::string_view text);
// What it says of its issuer and key, which nobody has verified yet.
struct JwtHints {
  std::string issuer, key_id;
};
Result<JwtHints> jwt_hints(std::string_view token);

// Its claims. `verification_failed` says what does not hold, and never the token.
Result<boost::json::object> verify_jwt(std::string_view token, const std::vector<Jwk>& keys, const JwtRules& rules);

}  // namespace sluice::crypto
