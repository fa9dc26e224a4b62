// PAYLOAD.SIGNATURE, both unpadded base64url; what is signed is DSSE's encoding of type and payload.
#include "router/debug_token.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "crypto/base64.h"
#include "crypto/dsse.h"

namespace sluice::router {
namespace {

constexpr std::string_view kTokenType = "application/vnd.sluice.debug-token+json";

Error not_a_token(const char* why) {
  return {.code = Code::verification_failed, .message = std::string("the debug token ") + why};
}

}  // namespace

std::string write_debug_token(const DebugToken& token, const crypto::PrivateKey& key) {
  std::string payload = write(
      json::object{{"e", token.environment}, {"d", token.deployment}, {"r", token.revision}, {"x", token.expires_s}});
  crypto::Signature signature = key.sign(crypto::pre_authentication_encoding(kTokenType, payload));
  return crypto::to_base64(payload, crypto::Base64::url_unpadded) + "." +
         crypto::to_base64(crypto::as_view(signature), crypto::Base64::url_unpadded);
}

Result<DebugToken> read_debug_token(std::string_view text, std::span<const crypto::PublicKey> trusted) {
  size_t dot = text.find('.');
  if (text.size() > kMaxDebugTokenBytes || dot == std::string_view::npos) return not_a_token("is not one");
  auto payload = crypto::from_base64(text.substr(0, dot), crypto::Base64::url_unpadded);
  auto signature = crypto::from_base64(text.substr(dot + 1), crypto::Base64::url_unpadded);
  if (!payload || !signature) return not_a_token("is not one");
  std::string signed_text = crypto::pre_authentication_encoding(kTokenType, *payload);
  bool holds = false;
  for (const crypto::PublicKey& key : trusted) holds = holds || key.verify(signed_text, *signature);
  if (!holds) return not_a_token("is not signed by a key of the table");
  auto parsed = parse_json(*payload, "", {.max_depth = 2});
  const json::object* claims = parsed ? parsed->root.if_object() : nullptr;
  if (claims == nullptr) return not_a_token("says nothing");
  DebugToken token;
  for (auto [name, into] : {std::pair{"e", &token.environment}, {"d", &token.deployment}, {"r", &token.revision}}) {
    const json::value* value = claims->if_contains(name);
    if (value == nullptr || !value->is_string()) return not_a_token("says nothing");
    *into = std::string(value->get_string());
  }
  const json::value* expires = claims->if_contains("x");
  if (expires == nullptr || !expires->is_int64()) return not_a_token("has no end");
  token.expires_s = expires->get_int64();
  return token;
}

}  // namespace sluice::router
