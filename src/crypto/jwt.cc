// The algorithm is the key's business: the header must name one that the key is for.
#include "crypto/jwt.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/json.h"
#include "crypto/base64.h"
#include "crypto/evp.h"

namespace sluice::crypto {
namespace {

namespace json = boost::json;

constexpr int64_t kLeeway_ms = 60'000;
constexpr int kLeastRsaBits = 2048;
constexpr size_t kMostKeys = 100;
constexpr size_t kHalfBytes = 32;  // of an ES256 signature, and of a coordinate

using ContextPtr = std::unique_ptr<EVP_PKEY_CTX, FreeWith<EVP_PKEY_CTX_free>>;
using BuilderPtr = std::unique_ptr<OSSL_PARAM_BLD, FreeWith<OSSL_PARAM_BLD_free>>;
using ParamsPtr = std::unique_ptr<OSSL_PARAM, FreeWith<OSSL_PARAM_free>>;
using NumberPtr = std::unique_ptr<BIGNUM, FreeWith<BN_free>>;
using EcSignaturePtr = std::unique_ptr<ECDSA_SIG, FreeWith<ECDSA_SIG_free>>;

Error jwt_refused(const std::string& why) {
  return {.code = Code::verification_failed, .message = "the token does not hold: " + why};
}

std::string text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

std::string bytes_of(const json::object& object, std::string_view name) {
  auto bytes = from_base64(text_of(object, name), Base64::url_unpadded);
  return bytes ? *bytes : "";
}

struct Parts {
  json::object header, claims;
  std::string signature;
  std::string_view signed_text;
};

Result<Parts> take_apart(std::string_view token) {
  if (!looks_like_jwt(token)) return jwt_refused("it is none");
  const size_t first = token.find('.'), second = token.find('.', first + 1);
  Parts parts{.signed_text = token.substr(0, second)};
  for (auto [text, into] : {std::pair(token.substr(0, first), &parts.header),
                            std::pair(token.substr(first + 1, second - first - 1), &parts.claims)}) {
    auto bytes = from_base64(text, Base64::url_unpadded);
    auto parsed = bytes ? parse_json(*bytes, "token") : Result<Document>(bytes.error());
    if (!parsed || !parsed->root.is_object()) return jwt_refused("it is none");
    *into = std::move(parsed->root.get_object());
  }
  auto signature = from_base64(token.substr(second + 1), Base64::url_unpadded);
  if (!signature) return jwt_refused("it is none");
  parts.signature = *std::move(signature);
  return parts;
}

KeyPtr made_key(const char* type, const OSSL_PARAM* params) {
  ContextPtr context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  const bool made = context != nullptr && EVP_PKEY_fromdata_init(context.get()) == 1 &&
                    EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, const_cast<OSSL_PARAM*>(params)) == 1;
  ERR_clear_error();
  KeyPtr owned(key);
  return made ? std::move(owned) : nullptr;
}

KeyPtr rsa_key(const Jwk& jwk) {
  NumberPtr n(BN_bin2bn(as_bytes(jwk.n), static_cast<int>(jwk.n.size()), nullptr));
  NumberPtr e(BN_bin2bn(as_bytes(jwk.e), static_cast<int>(jwk.e.size()), nullptr));
  BuilderPtr builder(OSSL_PARAM_BLD_new());
  must(n && e && builder && OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) == 1 &&
           OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) == 1,
       "OSSL_PARAM_BLD_push_BN");
  ParamsPtr params(OSSL_PARAM_BLD_to_param(builder.get()));
  must(params != nullptr, "OSSL_PARAM_BLD_to_param");
  KeyPtr key = made_key("RSA", params.get());
  return key && EVP_PKEY_get_bits(key.get()) >= kLeastRsaBits ? std::move(key) : nullptr;
}

KeyPtr ec_key(const Jwk& jwk) {
  std::string point = "\x04" + jwk.x + jwk.y;
  std::string group = "P-256";
  const std::array params = {OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group.data(), 0),
                             OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()),
                             OSSL_PARAM_construct_end()};
  return made_key("EC", params.data());
}

KeyPtr key_of(const Jwk& jwk) {
  if (jwk.kind == "RSA") return rsa_key(jwk);
  if (jwk.kind == "EC") return ec_key(jwk);
  return KeyPtr(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, as_bytes(jwk.x), jwk.x.size()));
}

// The kind of key that an algorithm is for; empty: none that counts.
std::string_view kind_of(std::string_view alg) {
  if (alg == "RS256" || alg == "PS256") return "RSA";
  if (alg == "ES256") return "EC";
  return alg == "EdDSA" ? "OKP" : "";
}

// A signature as JWS writes it, two numbers, in the form that OpenSSL takes.
std::string der_of(std::string_view raw) {
  if (raw.size() != 2 * kHalfBytes) return "";
  EcSignaturePtr signature(ECDSA_SIG_new());
  NumberPtr r(BN_bin2bn(as_bytes(raw), kHalfBytes, nullptr));
  NumberPtr s(BN_bin2bn(as_bytes(raw.substr(kHalfBytes)), kHalfBytes, nullptr));
  must(signature && r && s, "ECDSA_SIG_new");
  must(ECDSA_SIG_set0(signature.get(), r.release(), s.release()) == 1, "ECDSA_SIG_set0");
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  must(size > 0, "i2d_ECDSA_SIG");
  std::string text(reinterpret_cast<const char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return text;
}

bool is_signed(const Parts& parts, std::string_view alg, const Jwk& jwk) {
  KeyPtr key = key_of(jwk);
  if (key == nullptr) return false;
  const std::string signature = alg == "ES256" ? der_of(parts.signature) : parts.signature;
  if (signature.empty()) return false;
  DigestPtr digest(EVP_MD_CTX_new());
  must(digest != nullptr, "EVP_MD_CTX_new");
  EVP_PKEY_CTX* way = nullptr;
  bool ready =
      EVP_DigestVerifyInit(digest.get(), &way, alg == "EdDSA" ? nullptr : EVP_sha256(), nullptr, key.get()) == 1;
  if (ready && alg == "PS256") {
    ready = EVP_PKEY_CTX_set_rsa_padding(way, RSA_PKCS1_PSS_PADDING) == 1 &&
            EVP_PKEY_CTX_set_rsa_pss_saltlen(way, RSA_PSS_SALTLEN_DIGEST) == 1;
  }
  const bool holds = ready && EVP_DigestVerify(digest.get(), as_bytes(signature), signature.size(),
                                               as_bytes(parts.signed_text), parts.signed_text.size()) == 1;
  ERR_clear_error();
  return holds;
}

// A time of the claims in milliseconds; none if there is none, an error if it is none.
Result<std::optional<int64_t>> time_in(const json::object& claims, std::string_view name) {
  const json::value* value = claims.if_contains(name);
  if (value == nullptr) return std::optional<int64_t>();
  constexpr double kMost_s = 1e11;
  double seconds = -1;
  if (value->is_int64()) seconds = static_cast<double>(value->get_int64());
  if (value->is_uint64()) seconds = static_cast<double>(value->get_uint64());
  if (value->is_double()) seconds = value->get_double();
  if (!(seconds >= 0 && seconds < kMost_s)) return jwt_refused("its " + std::string(name) + " is no time");
  return std::optional(static_cast<int64_t>(seconds * 1000));
}

Result<void> check_claims(const json::object& claims, const JwtRules& rules) {
  if (text_of(claims, "iss") != rules.issuer) return jwt_refused("it is of another issuer");
  const json::value* audience = claims.if_contains("aud");
  const bool meant = audience != nullptr &&
                     ((audience->is_string() && audience->get_string() == rules.audience) ||
                      (audience->is_array() && std::ranges::find(audience->get_array(), json::value(rules.audience)) !=
                                                   audience->get_array().end()));
  if (rules.audience.empty() || !meant) return jwt_refused("it is not for " + rules.audience);
  auto ends = time_in(claims, "exp"), begins = time_in(claims, "nbf"), made = time_in(claims, "iat");
  for (const auto* each : {&ends, &begins, &made}) {
    if (!*each) return each->error();
  }
  if (!*ends) return jwt_refused("it does not say when it ends");
  if (rules.now_ms >= **ends + kLeeway_ms) return jwt_refused("it has ended");
  for (const auto* each : {&begins, &made}) {
    if (**each && rules.now_ms + kLeeway_ms < ***each) return jwt_refused("it is from the future");
  }
  if (!rules.nonce.empty() && text_of(claims, "nonce") != rules.nonce)
    return jwt_refused("it was made for another login");
  return {};
}

}  // namespace

Result<std::vector<Jwk>> read_jwks(std::string_view text) {
  auto parsed = parse_json(text, "keys");
  if (!parsed) return parsed.error();
  const json::value* listed = parsed->root.is_object() ? parsed->root.get_object().if_contains("keys") : nullptr;
  if (listed == nullptr || !listed->is_array() || listed->get_array().size() > kMostKeys) {
    return Error{.code = Code::invalid, .message = "this is no list of keys"};
  }
  std::vector<Jwk> keys;
  for (const json::value& each : listed->get_array()) {
    if (!each.is_object()) continue;
    const json::object& one = each.get_object();
    const std::string use = text_of(one, "use"), curve = text_of(one, "crv");
    if (!use.empty() && use != "sig") continue;
    Jwk key{.id = text_of(one, "kid"), .kind = text_of(one, "kty"), .alg = text_of(one, "alg")};
    if (!key.alg.empty() && kind_of(key.alg) != key.kind) continue;
    if (key.kind == "RSA") {
      key.n = bytes_of(one, "n");
      key.e = bytes_of(one, "e");
      if (key.n.empty() || key.e.empty()) continue;
    } else {
      key.x = bytes_of(one, "x");
      key.y = key.kind == "EC" ? bytes_of(one, "y") : "";
      const bool known = (key.kind == "EC" && curve == "P-256" && key.y.size() == kHalfBytes) ||
                         (key.kind == "OKP" && curve == "Ed25519");
      if (!known || key.x.size() != kHalfBytes) continue;
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

bool looks_like_jwt(std::string_view text) {
  auto fits = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return text.size() <= kMaxJwtBytes && std::ranges::count(text, '.') == 2 && std::ranges::all_of(text, fits);
}

Result<JwtHints> jwt_hints(std::string_view token) {
  auto parts = take_apart(token);
  if (!parts) return parts.error();
  return JwtHints{.issuer = text_of(parts->claims, "iss"), .key_id = text_of(parts->header, "kid")};
}

Result<json::object> verify_jwt(std::string_view token, const std::vector<Jwk>& keys, const JwtRules& rules) {
  auto parts = take_apart(token);
  if (!parts) return parts.error();
  const std::string alg = text_of(parts->header, "alg"), id = text_of(parts->header, "kid");
  const std::string_view kind = kind_of(alg);
  if (kind.empty()) return jwt_refused("its algorithm does not count");
  if (parts->header.contains("crit")) return jwt_refused("it demands what is not known here");
  bool known = false, holds = false;
  for (const Jwk& each : keys) {
    if (each.kind != kind || (!each.alg.empty() && each.alg != alg) || (!id.empty() && each.id != id)) continue;
    known = true;
    holds = holds || is_signed(*parts, alg, each);
  }
  if (!known) return jwt_refused("no key of the issuer is the one that it names");
  if (!holds) return jwt_refused("it is not signed by its issuer");
  if (auto sound = check_claims(parts->claims, rules); !sound) return sound.error();
  return std::move(parts->claims);
}

}  // namespace sluice::crypto
