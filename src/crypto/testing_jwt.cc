// OpenSSL signs, as the provider's library would.
#include "crypto/testing_jwt.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "crypto/base64.h"
#include "crypto/evp.h"

namespace sluice::crypto {
namespace {

namespace json = boost::json;

std::string url64(std::string_view bytes) { return to_base64(bytes, Base64::url_unpadded); }

std::string number_of(const EVP_PKEY* key, const char* name, size_t size) {
  BIGNUM* number = nullptr;
  must(EVP_PKEY_get_bn_param(key, name, &number) == 1, "EVP_PKEY_get_bn_param");
  const size_t bytes = size != 0 ? size : static_cast<size_t>(BN_num_bytes(number));
  std::string text(bytes, '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(text.data()), static_cast<int>(bytes));
  BN_free(number);
  return text;
}

}  // namespace

std::string jwt_text(const json::object& header, const json::object& claims, const std::string& signature) {
  return url64(write(header)) + "." + url64(write(claims)) + "." + url64(signature);
}

TestingIssuer::TestingIssuer(std::string alg, std::string key_id) : alg_(std::move(alg)), key_id_(std::move(key_id)) {
  key_ = alg_ == "EdDSA"   ? EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")
         : alg_ == "ES256" ? EVP_EC_gen("P-256")
                           : EVP_RSA_gen(2048);
  must(key_ != nullptr, "EVP_PKEY_Q_keygen");
}

TestingIssuer::~TestingIssuer() { EVP_PKEY_free(static_cast<EVP_PKEY*>(key_)); }

std::string TestingIssuer::jwks() const {
  auto* key = static_cast<EVP_PKEY*>(key_);
  json::object one{{"kid", key_id_}, {"use", "sig"}, {"alg", alg_}};
  if (alg_ == "EdDSA") {
    std::string raw(32, '\0');
    size_t size = raw.size();
    must(EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(raw.data()), &size) == 1, "raw_public_key");
    one["kty"] = "OKP";
    one["crv"] = "Ed25519";
    one["x"] = url64(raw);
  } else if (alg_ == "ES256") {
    one["kty"] = "EC";
    one["crv"] = "P-256";
    one["x"] = url64(number_of(key, OSSL_PKEY_PARAM_EC_PUB_X, 32));
    one["y"] = url64(number_of(key, OSSL_PKEY_PARAM_EC_PUB_Y, 32));
  } else {
    one["kty"] = "RSA";
    one["n"] = url64(number_of(key, OSSL_PKEY_PARAM_RSA_N, 0));
    one["e"] = url64(number_of(key, OSSL_PKEY_PARAM_RSA_E, 0));
  }
  return write(json::object{{"keys", json::array{one}}});
}

std::string TestingIssuer::public_pem() const {
  BioPtr bio(BIO_new(BIO_s_mem()));
  must(PEM_write_bio_PUBKEY(bio.get(), static_cast<EVP_PKEY*>(key_)) == 1, "PEM_write_bio_PUBKEY");
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<size_t>(size)};
}

std::string TestingIssuer::sign(const json::object& claims, const json::object& header) const {
  json::object head{{"typ", "JWT"}, {"alg", alg_}, {"kid", key_id_}};
  for (const auto& [name, value] : header) head[name] = value;
  const std::string text = url64(write(head)) + "." + url64(write(claims));
  DigestPtr digest(EVP_MD_CTX_new());
  EVP_PKEY_CTX* way = nullptr;
  must(EVP_DigestSignInit(digest.get(), &way, alg_ == "EdDSA" ? nullptr : EVP_sha256(), nullptr,
                          static_cast<EVP_PKEY*>(key_)) == 1,
       "EVP_DigestSignInit");
  if (alg_ == "PS256") {
    must(EVP_PKEY_CTX_set_rsa_padding(way, RSA_PKCS1_PSS_PADDING) == 1 &&
             EVP_PKEY_CTX_set_rsa_pss_saltlen(way, RSA_PSS_SALTLEN_DIGEST) == 1,
         "EVP_PKEY_CTX_set_rsa_padding");
  }
  size_t size = 0;
  must(EVP_DigestSign(digest.get(), nullptr, &size, as_bytes(text), text.size()) == 1, "EVP_DigestSign");
  std::string signature(size, '\0');
  must(EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, as_bytes(text),
                      text.size()) == 1,
       "EVP_DigestSign");
  signature.resize(size);
  if (alg_ == "ES256") {
    const unsigned char* at = as_bytes(signature);
    ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(signature.size()));
    must(pair != nullptr, "d2i_ECDSA_SIG");
    std::string raw(64, '\0');
    BN_bn2binpad(ECDSA_SIG_get0_r(pair), reinterpret_cast<unsigned char*>(raw.data()), 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair), reinterpret_cast<unsigned char*>(raw.data()) + 32, 32);
    ECDSA_SIG_free(pair);
    signature = raw;
  }
  return text + "." + url64(signature);
}

}  // namespace sluice::crypto
