// RFC 2104 over OpenSSL's SHA-256: H(key ^ opad, H(key ^ ipad, message)), both keyed states kept. Its plain functions,
// which OpenSSL would rather not see used: the newer ones take memory for every copy of a state.
#include "crypto/hmac.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "crypto/evp.h"
#include "crypto/secret_buffer.h"
#include "crypto/sha256.h"

namespace sluice::crypto {

namespace {

using Block = std::array<uint8_t, SHA256_CBLOCK>;

void start(SHA256_CTX& state, Block block, uint8_t pad) {
  for (uint8_t& byte : block) byte ^= pad;
  bool ok = SHA256_Init(&state) == 1 && SHA256_Update(&state, block.data(), block.size()) == 1;
  OPENSSL_cleanse(block.data(), block.size());
  must(ok, "SHA256_Update");
}

// Goes on from a state with the bytes.
bool finish(SHA256_CTX state, std::string_view bytes, Mac& mac) {
  bool ok = SHA256_Update(&state, bytes.data(), bytes.size()) == 1 && SHA256_Final(mac.data(), &state) == 1;
  OPENSSL_cleanse(&state, sizeof state);
  return ok;
}

std::string_view view_of_mac(const Mac& mac) { return {reinterpret_cast<const char*>(mac.data()), mac.size()}; }

}  // namespace

Hmac::Hmac(std::string_view key) {
  Block block{};
  if (key.size() > block.size()) {
    Sha256 digest = sha256(key);
    std::copy(digest.begin(), digest.end(), block.begin());
    OPENSSL_cleanse(digest.data(), digest.size());
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  start(inner_, block, 0x36);
  start(outer_, block, 0x5c);
  OPENSSL_cleanse(block.data(), block.size());
}

Hmac::~Hmac() {
  OPENSSL_cleanse(&inner_, sizeof inner_);
  OPENSSL_cleanse(&outer_, sizeof outer_);
}

Mac Hmac::mac(std::string_view message) const {
  Mac within, mac;
  must(finish(inner_, message, within) && finish(outer_, view_of_mac(within), mac), "SHA256_Final");
  return mac;
}

bool Hmac::verify(std::string_view message, std::string_view given) const {
  const Mac expected = mac(message);
  return equal_constant_time(view_of_mac(expected), given);
}

}  // namespace sluice::crypto
