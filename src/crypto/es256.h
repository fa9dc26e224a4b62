// A key of the curve P-256 that signs as JSON Web Signatures do (ES256), such as that of an ACME account.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "crypto/secret_buffer.h"

namespace sluice::crypto {

class Es256Key {
 public:
  static Es256Key generate();
  static Result<Es256Key> from_pem(std::string_view pem);
  SecretBuffer to_pem() const { return SecretBuffer::copy_of(pem_.reveal()); }

  // R and S, 64 bytes.
  std::string sign(std::string_view text) const;
  // Its public half as RFC 7638 has it hashed: {"crv":"P-256","kty":"EC","x":"…","y":"…"}
  std::string jwk() const;
  // SHA-256 of that, in unpadded base64url.
  std::string thumbprint() const;

 private:
  explicit Es256Key(SecretBuffer pem) : pem_(std::move(pem)) {}

  SecretBuffer pem_;
};

}  // namespace sluice::crypto
