// SHA-256 by OpenSSL.
#include "crypto/sha256.h"

#include <openssl/sha.h>

namespace sluice::crypto {

Sha256 sha256(std::string_view bytes) {
  Sha256 digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

std::string to_string(const Sha256& digest) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text = "sha256:";
  for (uint8_t byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace sluice::crypto
