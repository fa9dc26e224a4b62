// Seals a key to a recipient: whoever makes a backup needs only the recipient's public text, and can open nothing; the
// private text is kept elsewhere, and is needed to restore.
//
//   auto pair = RecipientKey::generate();
//   auto sealed = seal_to(pair.recipient(), key, "backup 01J…", random);      // "slr_…"
//   auto opened = pair.open(*sealed, "backup 01J…");                          // `verification_failed` if it is not for
//   it
//
// X25519 with a key of its own for each seal, HKDF-SHA256 over the shared secret with both public keys as salt, and
// AES-256-GCM bound to the associated text.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "crypto/secret_buffer.h"

namespace sluice::crypto {

struct SealedKey {
  std::string recipient;  // its public text
  std::string ephemeral;  // base64url
  std::string sealed;     // base64url
};
BOOST_DESCRIBE_STRUCT(SealedKey, (), (recipient, ephemeral, sealed))

class RecipientKey {
 public:
  static RecipientKey generate();
  // "slrk_…", white space at the end left out.
  static Result<RecipientKey> from_text(std::string_view text);

  const std::string& recipient() const { return recipient_; }
  SecretBuffer text() const;
  Result<SecretBuffer> open(const SealedKey& sealed, std::string_view associated) const;

 private:
  RecipientKey(SecretBuffer key, std::string recipient) : key_(std::move(key)), recipient_(std::move(recipient)) {}

  SecretBuffer key_;
  std::string recipient_;
};

// `invalid` if it is not the public text of a recipient.
Result<void> check_recipient(std::string_view recipient);
Result<SealedKey> seal_to(std::string_view recipient, const SecretBuffer& key, std::string_view associated,
                          Random& random);

}  // namespace sluice::crypto
