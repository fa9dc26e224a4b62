// AES-256-GCM: seals a secret so that nobody without the key can read it or change it, or its associated data,
// without being noticed. The built-in secret store is its use.
//
// A sealed text is nonce (12 bytes), ciphertext (as long as the secret), tag (16 bytes). The nonce is random, so one
// key must seal no more than 2^32 secrets (NIST SP 800-38D, 8.3); rotate it long before. Associated data is not in
// the sealed text: the caller gives the same again to open it, and so binds a secret to its name and version.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "crypto/secret_buffer.h"

namespace sluice::crypto {

class Aead {
 public:
  static constexpr size_t kKeyBytes = 32;
  static constexpr size_t kNonceBytes = 12;
  static constexpr size_t kTagBytes = 16;
  static constexpr size_t kMaxSecretBytes = 64 << 20;
  static constexpr size_t kMaxAssociatedBytes = 1 << 20;

  // Fails unless the key is 32 bytes long.
  static Result<Aead> with_key(SecretBuffer key);
  static Aead with_new_key(Random& random);

  Result<std::string> seal(std::string_view secret, std::string_view associated, Random& random) const;

  // One error, verification_failed, whichever part was changed and whether the key is wrong: the difference would
  // help only an attacker.
  Result<SecretBuffer> open(std::string_view sealed, std::string_view associated) const;

  const SecretBuffer& key() const { return key_; }

 private:
  explicit Aead(SecretBuffer key) : key_(std::move(key)) {}

  SecretBuffer key_;
};

}  // namespace sluice::crypto
