// Two requests: discovery, and the token endpoint.
#include "host/openid.h"

#include <array>
#include <boost/json.hpp>

#include "base/json.h"
#include "crypto/base64.h"
#include "crypto/sha256.h"
#include "host/issuer_keys.h"
#include "http/outgoing.h"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr int64_t kProvider_ms = 10'000;
constexpr size_t kMostProviderBytes = size_t{1} << 20U;
constexpr size_t kWordBytes = 32;

std::string provider_text(const json::value& document, std::string_view name) {
  const json::value* value = document.is_object() ? document.get_object().if_contains(name) : nullptr;
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

std::string form_of(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string form;
  for (const auto& [name, value] : fields) {
    form += (form.empty() ? "" : "&") + name + "=" + http::percent_encoded(value);
  }
  return form;
}

// What a provider refuses with has a word for a program and often a sentence; neither holds a secret.
Result<OpenIdTokens> ask_for_tokens(const std::string& token_endpoint,
                                    const std::vector<std::pair<std::string, std::string>>& fields,
                                    const Clock& clock) {
  http::Outgoing outgoing({}, clock);
  auto answer =
      outgoing.send({.method = "POST",
                     .url = token_endpoint,
                     .headers = {{"Content-Type", "application/x-www-form-urlencoded"}, {"Accept", "application/json"}},
                     .body = form_of(fields),
                     .timeout_ms = kProvider_ms,
                     .most_bytes = kMostProviderBytes});
  if (!answer) return answer.error();
  auto document = parse_json(answer->body, "tokens");
  if (answer->status != 200 || !document) {
    const std::string why = document ? provider_text(document->root, "error") : "";
    return Error{.code = Code::unauthenticated,
                 .message = "the provider gives no token" + (why.empty() ? "" : ": " + why)};
  }
  OpenIdTokens tokens{.id_token = provider_text(document->root, "id_token"),
                      .refresh_token = provider_text(document->root, "refresh_token")};
  if (tokens.id_token.empty()) {
    return Error{.code = Code::unauthenticated, .message = "the provider gives no id_token"};
  }
  return tokens;
}

}  // namespace

Result<OpenIdProvider> discover_provider(const std::string& issuer, const Clock& clock) {
  if (!is_issuer_url(issuer)) return Error{.code = Code::invalid, .message = "an issuer is reached over https://"};
  http::Outgoing outgoing({}, clock);
  const std::string base = issuer.ends_with('/') ? issuer.substr(0, issuer.size() - 1) : issuer;
  auto answer = outgoing.send({.url = base + "/.well-known/openid-configuration",
                               .timeout_ms = kProvider_ms,
                               .most_bytes = kMostProviderBytes});
  if (!answer) return answer.error();
  auto document = parse_json(answer->body, "discovery");
  if (answer->status != 200 || !document) {
    return Error{.code = Code::unavailable, .message = issuer + " does not describe itself"};
  }
  OpenIdProvider provider{.issuer = provider_text(document->root, "issuer"),
                          .authorization_endpoint = provider_text(document->root, "authorization_endpoint"),
                          .token_endpoint = provider_text(document->root, "token_endpoint")};
  if (provider.issuer != issuer) {
    return Error{.code = Code::verification_failed, .message = issuer + " says that it is another issuer"};
  }
  for (const std::string& each : {provider.authorization_endpoint, provider.token_endpoint}) {
    if (is_issuer_url(each)) continue;
    return Error{.code = Code::verification_failed, .message = issuer + " does not say where people log in"};
  }
  return provider;
}

std::string random_word(Random& random) {
  std::array<uint8_t, kWordBytes> bytes;
  random.fill(bytes);
  return crypto::to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, crypto::Base64::url_unpadded);
}

Pkce new_pkce(Random& random) {
  Pkce pkce{.verifier = random_word(random), .challenge = {}};
  const crypto::Sha256 digest = crypto::sha256(pkce.verifier);
  pkce.challenge =
      crypto::to_base64({reinterpret_cast<const char*>(digest.data()), digest.size()}, crypto::Base64::url_unpadded);
  return pkce;
}

std::string login_url(const OpenIdProvider& provider, const LoginRequest& request) {
  std::string scopes;
  for (const std::string& each : request.scopes) scopes += (scopes.empty() ? "" : " ") + each;
  std::vector<std::pair<std::string, std::string>> fields{{"response_type", "code"},
                                                          {"client_id", request.client},
                                                          {"redirect_uri", request.redirect},
                                                          {"scope", scopes},
                                                          {"state", request.state},
                                                          {"nonce", request.nonce},
                                                          {"code_challenge", request.challenge},
                                                          {"code_challenge_method", "S256"}};
  // Providers give a refresh token only to those whom a person has agreed to give one.
  if (scopes.find("offline_access") != std::string::npos) fields.emplace_back("prompt", "consent");
  return provider.authorization_endpoint + "?" + form_of(fields);
}

Result<OpenIdTokens> exchange_code(const std::string& token_endpoint, const std::string& client,
                                   const std::string& code, const std::string& verifier, const std::string& redirect,
                                   const Clock& clock) {
  return ask_for_tokens(token_endpoint,
                        {{"grant_type", "authorization_code"},
                         {"client_id", client},
                         {"code", code},
                         {"code_verifier", verifier},
                         {"redirect_uri", redirect}},
                        clock);
}

Result<OpenIdTokens> refresh_tokens(const std::string& token_endpoint, const std::string& client,
                                    const std::string& refresh_token, const Clock& clock) {
  return ask_for_tokens(token_endpoint,
                        {{"grant_type", "refresh_token"}, {"client_id", client}, {"refresh_token", refresh_token}},
                        clock);
}

std::string unverified_claim(const std::string& token, std::string_view name) {
  const size_t first = token.find('.'), second = token.find('.', first + 1);
  if (second == std::string::npos) return "";
  auto bytes = crypto::from_base64(token.substr(first + 1, second - first - 1), crypto::Base64::url_unpadded);
  auto document = bytes ? parse_json(*bytes, "claims") : Result<Document>(bytes.error());
  if (!document || !document->root.is_object()) return "";
  const json::value* value = document->root.get_object().if_contains(name);
  if (value == nullptr) return "";
  return value->is_string() ? std::string(value->get_string()) : write(*value);
}

}  // namespace sluice::host
