// HMAC-SHA-256 with one key for many messages: signed cookies, tokens, the chain of the journal.
//
// The key is hashed once, when the object is made; each mac then starts from a copy of the two prepared states, so a
// short message costs two blocks of SHA-256 instead of four and the key itself is not kept. One thread at a time: a
// thread that needs the same key makes its own with clone().
#pragma once

#include <openssl/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace sluice::crypto {

using Mac = std::array<uint8_t, 32>;

class Hmac {
 public:
  // Any length of key works; fewer than 32 random bytes make a weaker mac.
  explicit Hmac(std::string_view key);
  ~Hmac();
  Hmac(Hmac&&) noexcept;
  Hmac& operator=(Hmac&&) noexcept;
  Hmac clone() const;

  Mac mac(std::string_view message);

  // Whether `mac` is the whole mac of the message, in a time that does not depend on where it differs. A shortened
  // mac is refused.
  bool verify(std::string_view message, std::string_view mac);

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const;
  };
  using State = std::unique_ptr<EVP_MD_CTX, Free>;

  Hmac();

  State inner_;  // after the key's inner block
  State outer_;  // after the key's outer block
  State work_;
};

}  // namespace sluice::crypto
