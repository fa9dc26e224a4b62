// Logging in with an OpenID provider, by authorization code and PKCE (RFC 7636, RFC 8252): where the provider is found,
// where a browser is sent, and what its code is exchanged for. Sluice is a public client there and has no secret.
//
//   auto provider = discover_provider("https://people.example", clock);
//   Pkce pkce = new_pkce(random);
//   … send the browser to login_url(*provider, {…}) …
//   auto tokens = exchange_code(*provider, client, code, pkce.verifier, redirect, clock);
//
// The command line and the server use the same. Whether a token holds, Authority decides, which has the keys.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"

namespace sluice::host {

struct OpenIdProvider {
  std::string issuer;
  std::string authorization_endpoint;
  std::string token_endpoint;
};

// `verification_failed`: it says that it is somebody else, or leads to where a secret would cross a network in the
// clear.
Result<OpenIdProvider> discover_provider(const std::string& issuer, const Clock& clock);

// 256 random bits as text.
std::string random_word(Random& random);

struct Pkce {
  std::string verifier;
  std::string challenge;  // S256 of it
};
Pkce new_pkce(Random& random);

struct LoginRequest {
  std::string client;
  std::string redirect;
  std::string state;
  std::string nonce;
  std::string challenge;
  std::vector<std::string> scopes;
};
std::string login_url(const OpenIdProvider& provider, const LoginRequest& request);

struct OpenIdTokens {
  std::string id_token;
  std::string refresh_token;  // empty: the provider gave none
};
Result<OpenIdTokens> exchange_code(const std::string& token_endpoint, const std::string& client,
                                   const std::string& code, const std::string& verifier, const std::string& redirect,
                                   const Clock& clock);
Result<OpenIdTokens> refresh_tokens(const std::string& token_endpoint, const std::string& client,
                                    const std::string& refresh_token, const Clock& clock);

// A claim of a token that nobody has verified yet, as text; empty: it has none.
std::string unverified_claim(const std::string& token, std::string_view name);

// What the server says about logging in with a provider (GET /v1/login/sso), for the command line.
struct SsoDocument {
  std::string issuer;
  std::string client;
  std::string authorization_endpoint;
  std::string token_endpoint;
  std::vector<std::string> scopes;
};
BOOST_DESCRIBE_STRUCT(SsoDocument, (), (issuer, client, authorization_endpoint, token_endpoint, scopes))

struct SsoAnswer {
  std::optional<SsoDocument> provider;  // none: people do not log in with one
};
BOOST_DESCRIBE_STRUCT(SsoAnswer, (), (provider))

}  // namespace sluice::host
