// Ed25519 signatures (RFC 8032): keys, signing, verifying, and keys as PEM (PKCS#8 and SubjectPublicKeyInfo, RFC 8410).
//
//   PrivateKey key = PrivateKey::generate();
//   Signature signature = key.sign(message);
//   key.public_key().verify(message, as_view(signature));  // true
//
// A key's id is the first 16 bytes of the SHA-256 of the raw public key, as 32 hex digits.
#pragma once

#include <openssl/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "crypto/secret_buffer.h"

namespace sluice::crypto {

using Signature = std::array<uint8_t, 64>;

inline std::string_view as_view(const Signature& signature) {
  return {reinterpret_cast<const char*>(signature.data()), signature.size()};
}

class PublicKey {
 public:
  static constexpr size_t kBytes = 32;

  // Fails unless there are 32 bytes, and on the few points of small order: under such a key, anybody's signature
  // of anything can hold.
  static Result<PublicKey> from_raw(std::string_view bytes);
  static Result<PublicKey> from_pem(std::string_view text);

  std::string_view raw() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
  std::string key_id() const;
  std::string to_pem() const;

  // False for every signature that is not 64 bytes long or not in its one canonical form.
  bool verify(std::string_view message, std::string_view signature) const;

  bool operator==(const PublicKey&) const = default;

 private:
  friend class PrivateKey;
  PublicKey() = default;

  std::array<uint8_t, kBytes> bytes_{};
};

// Moves, does not copy. The key's memory is OpenSSL's, which wipes it. Signing is safe from several threads.
class PrivateKey {
 public:
  static constexpr size_t kSeedBytes = 32;

  static PrivateKey generate();
  static PrivateKey from_seed(std::span<const uint8_t, kSeedBytes> seed);
  static Result<PrivateKey> from_pem(std::string_view text);

  ~PrivateKey();
  PrivateKey(PrivateKey&&) noexcept;
  PrivateKey& operator=(PrivateKey&&) noexcept;

  const PublicKey& public_key() const { return public_key_; }
  Signature sign(std::string_view message) const;
  SecretBuffer to_pem() const;

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const;
  };

  explicit PrivateKey(EVP_PKEY* owned);

  std::unique_ptr<EVP_PKEY, Free> key_;
  PublicKey public_key_;
};

}  // namespace sluice::crypto
