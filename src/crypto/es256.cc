// OpenSSL signs in DER; JWS wants both numbers with all their zeros.
#include "crypto/es256.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/pem.h>

#include <array>

#include "crypto/base64.h"
#include "crypto/evp.h"
#include "crypto/sha256.h"

namespace sluice::crypto {
namespace {

constexpr int kNumberBytes = 32;

KeyPtr key_in(const SecretBuffer& pem) {
  BioPtr bio(BIO_new_mem_buf(pem.reveal().data(), static_cast<int>(pem.reveal().size())));
  must(bio != nullptr, "BIO_new_mem_buf");
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  must(key != nullptr, "PEM_read_bio_PrivateKey");
  return key;
}

}  // namespace

Es256Key Es256Key::generate() {
  KeyPtr key(EVP_EC_gen("P-256"));
  must(key != nullptr, "EVP_EC_gen");
  BioPtr bio(BIO_new(BIO_s_mem()));
  must(
      bio != nullptr && PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1,
      "PEM_write_bio_PKCS8PrivateKey");
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  SecretBuffer pem = SecretBuffer::copy_of({bytes, static_cast<size_t>(size)});
  OPENSSL_cleanse(bytes, static_cast<size_t>(size));
  return Es256Key(std::move(pem));
}

Result<Es256Key> Es256Key::from_pem(std::string_view pem) {
  BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  must(bio != nullptr, "BIO_new_mem_buf");
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  std::array<char, 32> group{};
  size_t size = 0;
  const bool fits = key && EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_EC &&
                    EVP_PKEY_get_group_name(key.get(), group.data(), group.size(), &size) == 1 &&
                    std::string_view(group.data(), size) == "prime256v1";
  ERR_clear_error();
  if (!fits) return Error{.code = Code::invalid, .message = "it is no key of the curve P-256"};
  return Es256Key(SecretBuffer::copy_of(pem));
}

std::string Es256Key::sign(std::string_view text) const {
  const KeyPtr key = key_in(pem_);
  DigestPtr digest(EVP_MD_CTX_new());
  size_t size = 0;
  must(digest && EVP_DigestSignInit(digest.get(), nullptr, sha256_algorithm(), nullptr, key.get()) == 1 &&
           EVP_DigestSign(digest.get(), nullptr, &size, as_bytes(text), text.size()) == 1,
       "EVP_DigestSign");
  std::string der(size, '\0');
  must(EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(der.data()), &size, as_bytes(text), text.size()) ==
           1,
       "EVP_DigestSign");
  const unsigned char* at = as_bytes(der);
  const std::unique_ptr<ECDSA_SIG, FreeWith<ECDSA_SIG_free>> signature(
      d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size)));
  must(signature != nullptr, "d2i_ECDSA_SIG");
  std::string both(2 * kNumberBytes, '\0');
  auto* out = reinterpret_cast<unsigned char*>(both.data());
  must(BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), out, kNumberBytes) == kNumberBytes &&
           BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), out + kNumberBytes, kNumberBytes) == kNumberBytes,
       "BN_bn2binpad");
  return both;
}

std::string Es256Key::jwk() const {
  const KeyPtr key = key_in(pem_);
  auto coordinate = [&](const char* name) {
    BIGNUM* number = nullptr;
    must(EVP_PKEY_get_bn_param(key.get(), name, &number) == 1, "EVP_PKEY_get_bn_param");
    const std::unique_ptr<BIGNUM, FreeWith<BN_free>> owned(number);
    std::string bytes(kNumberBytes, '\0');
    must(BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()), kNumberBytes) == kNumberBytes,
         "BN_bn2binpad");
    return to_base64(bytes, Base64::url_unpadded);
  };
  return R"({"crv":"P-256","kty":"EC","x":")" + coordinate(OSSL_PKEY_PARAM_EC_PUB_X) + R"(","y":")" +
         coordinate(OSSL_PKEY_PARAM_EC_PUB_Y) + "\"}";
}

std::string Es256Key::thumbprint() const {
  const Sha256 digest = sha256(jwk());
  return to_base64({reinterpret_cast<const char*>(digest.data()), digest.size()}, Base64::url_unpadded);
}

}  // namespace sluice::crypto
