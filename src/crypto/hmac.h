// HMAC-SHA-256 with one key for many messages: signed cookies, tokens, the chain of the journal.
//
// The key is hashed once, when the object is made; each mac then starts from a copy of the two prepared states, so a
// short message costs two blocks of SHA-256 instead of four, no memory is taken, and the key itself is not kept. The
// states are wiped at the end. Any number of threads may use one.
#pragma once

#include <openssl/sha.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice::crypto {

using Mac = std::array<uint8_t, 32>;

class Hmac {
 public:
  // Any length of key works; fewer than 32 random bytes make a weaker mac.
  explicit Hmac(std::string_view key);
  ~Hmac();
  Hmac(Hmac&&) noexcept = default;
  Hmac& operator=(Hmac&&) noexcept = default;
  Hmac clone() const { return Hmac(inner_, outer_); }

  Mac mac(std::string_view message) const;

  // Whether `mac` is the whole mac of the message, in a time that does not depend on where it differs. A shortened
  // mac is refused.
  bool verify(std::string_view message, std::string_view mac) const;

 private:
  Hmac(const SHA256_CTX& inner, const SHA256_CTX& outer) : inner_(inner), outer_(outer) {}

  SHA256_CTX inner_;  // after the key's inner block
  SHA256_CTX outer_;  // after the key's outer block
};

}  // namespace sluice::crypto
