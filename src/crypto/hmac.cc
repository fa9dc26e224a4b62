// RFC 2104 over OpenSSL's SHA-256: H(key ^ opad, H(key ^ ipad, message)), both keyed states kept.
#include "crypto/hmac.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "crypto/evp.h"
#include "crypto/secret_buffer.h"
#include "crypto/sha256.h"

namespace sluice::crypto {

namespace {

constexpr size_t kBlockBytes = 64;

using Block = std::array<uint8_t, kBlockBytes>;

void start(EVP_MD_CTX* state, Block block, uint8_t pad) {
  for (uint8_t& byte : block) byte ^= pad;
  bool ok = EVP_DigestInit_ex2(state, sha256_algorithm(), nullptr) == 1 &&
            EVP_DigestUpdate(state, block.data(), block.size()) == 1;
  OPENSSL_cleanse(block.data(), block.size());
  must(ok, "EVP_DigestUpdate");
}

}  // namespace

void Hmac::Free::operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }

Hmac::Hmac() : inner_(EVP_MD_CTX_new()), outer_(EVP_MD_CTX_new()), work_(EVP_MD_CTX_new()) {
  must(inner_ && outer_ && work_, "EVP_MD_CTX_new");
}

Hmac::Hmac(std::string_view key) : Hmac() {
  Block block{};
  if (key.size() > kBlockBytes) {
    Sha256 digest = sha256(key);
    std::copy(digest.begin(), digest.end(), block.begin());
    OPENSSL_cleanse(digest.data(), digest.size());
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  start(inner_.get(), block, 0x36);
  start(outer_.get(), block, 0x5c);
  OPENSSL_cleanse(block.data(), block.size());
}

Hmac::~Hmac() = default;
Hmac::Hmac(Hmac&&) noexcept = default;
Hmac& Hmac::operator=(Hmac&&) noexcept = default;

Hmac Hmac::clone() const {
  Hmac copy;
  must(EVP_MD_CTX_copy_ex(copy.inner_.get(), inner_.get()) == 1, "EVP_MD_CTX_copy_ex");
  must(EVP_MD_CTX_copy_ex(copy.outer_.get(), outer_.get()) == 1, "EVP_MD_CTX_copy_ex");
  return copy;
}

Mac Hmac::mac(std::string_view message) {
  Mac mac;
  must(EVP_MD_CTX_copy_ex(work_.get(), inner_.get()) == 1 &&
           EVP_DigestUpdate(work_.get(), message.data(), message.size()) == 1 &&
           EVP_DigestFinal_ex(work_.get(), mac.data(), nullptr) == 1 &&
           EVP_MD_CTX_copy_ex(work_.get(), outer_.get()) == 1 &&
           EVP_DigestUpdate(work_.get(), mac.data(), mac.size()) == 1 &&
           EVP_DigestFinal_ex(work_.get(), mac.data(), nullptr) == 1,
       "EVP_DigestFinal_ex");
  return mac;
}

bool Hmac::verify(std::string_view message, std::string_view given) {
  const Mac expected = mac(message);
  return equal_constant_time({reinterpret_cast<const char*>(expected.data()), expected.size()}, given);
}

}  // namespace sluice::crypto
