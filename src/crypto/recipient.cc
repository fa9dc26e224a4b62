// The recipient's public key is in what is derived, so a seal for one cannot be passed off as one for another.
#include "crypto/recipient.h"

#include <array>
#include <cstdint>

#include "crypto/aead.h"
#include "crypto/base64.h"
#include "crypto/evp.h"
#include "crypto/hmac.h"

namespace sluice::crypto {
namespace {

constexpr std::string_view kPublic = "slr_";
constexpr std::string_view kPrivate = "slrk_";
constexpr size_t kKeyBytes = 32;

KeyPtr private_key(std::string_view raw) {
  return KeyPtr(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, as_bytes(raw), raw.size()));
}

std::string public_of(EVP_PKEY* key) {
  std::string raw(kKeyBytes, '\0');
  size_t size = raw.size();
  must(EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(raw.data()), &size) == 1,
       "EVP_PKEY_get_raw_public_key");
  return raw;
}

Result<std::string> raw_of(std::string_view recipient) {
  const auto none = [] {
    return Error{.code = Code::invalid,
                 .message = "a recipient begins with " + std::string(kPublic) + " and has 32 bytes in base64url"};
  };
  if (!recipient.starts_with(kPublic)) return none();
  auto raw = from_base64(recipient.substr(kPublic.size()), Base64::url_unpadded);
  if (!raw || raw->size() != kKeyBytes) return none();
  return raw;
}

// None where the other key is one of the few for which everybody knows the secret.
Result<SecretBuffer> agreed(EVP_PKEY* own, std::string_view other) {
  KeyPtr peer(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, as_bytes(other), other.size()));
  must(peer != nullptr, "EVP_PKEY_new_raw_public_key");
  std::unique_ptr<EVP_PKEY_CTX, FreeWith<EVP_PKEY_CTX_free>> context(EVP_PKEY_CTX_new(own, nullptr));
  must(context && EVP_PKEY_derive_init(context.get()) == 1, "EVP_PKEY_derive_init");
  SecretBuffer shared(kKeyBytes);
  size_t size = kKeyBytes;
  const bool done = EVP_PKEY_derive_set_peer(context.get(), peer.get()) == 1 &&
                    EVP_PKEY_derive(context.get(), shared.writable().data(), &size) == 1;
  ERR_clear_error();
  if (!done) return Error{.code = Code::verification_failed, .message = "this is no key that can be agreed on"};
  return shared;
}

// HKDF-SHA256 for one block.
Result<Aead> key_for(const SecretBuffer& shared, std::string_view ephemeral, std::string_view recipient) {
  const Mac extracted = Hmac(std::string(ephemeral) + std::string(recipient)).mac(shared.reveal());
  const Mac key = Hmac({reinterpret_cast<const char*>(extracted.data()), extracted.size()})
                      .mac(std::string("sluice.sealed-key.v1") + '\x01');
  return Aead::with_key(SecretBuffer::copy_of({reinterpret_cast<const char*>(key.data()), key.size()}));
}

std::string text_of_public(std::string_view raw) { return std::string(kPublic) + to_base64(raw, Base64::url_unpadded); }

}  // namespace

RecipientKey RecipientKey::generate() {
  KeyPtr made(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"));
  must(made != nullptr, "EVP_PKEY_Q_keygen");
  SecretBuffer raw(kKeyBytes);
  size_t size = kKeyBytes;
  must(EVP_PKEY_get_raw_private_key(made.get(), raw.writable().data(), &size) == 1, "EVP_PKEY_get_raw_private_key");
  return {std::move(raw), text_of_public(public_of(made.get()))};
}

Result<RecipientKey> RecipientKey::from_text(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
  const auto none = [] {
    return Error{.code = Code::invalid, .message = "this is not the key of a recipient, which begins with slrk_"};
  };
  if (!text.starts_with(kPrivate)) return none();
  auto raw = secret_from_base64(text.substr(kPrivate.size()), Base64::url_unpadded);
  if (!raw || raw->size() != kKeyBytes) return none();
  KeyPtr key = private_key(raw->reveal());
  must(key != nullptr, "EVP_PKEY_new_raw_private_key");
  return RecipientKey(*std::move(raw), text_of_public(public_of(key.get())));
}

SecretBuffer RecipientKey::text() const {
  std::string text = std::string(kPrivate) + to_base64(key_.reveal(), Base64::url_unpadded);
  auto kept = SecretBuffer::copy_of(text);
  wipe(text);
  return kept;
}

Result<SecretBuffer> RecipientKey::open(const SealedKey& sealed, std::string_view associated) const {
  if (sealed.recipient != recipient_) {
    return Error{.code = Code::verification_failed,
                 .message = "it is sealed for " + sealed.recipient + ", and this key is that of " + recipient_};
  }
  auto ephemeral = from_base64(sealed.ephemeral, Base64::url_unpadded);
  auto bytes = from_base64(sealed.sealed, Base64::url_unpadded);
  if (!ephemeral || ephemeral->size() != kKeyBytes || !bytes) {
    return Error{.code = Code::verification_failed, .message = "the sealed key is damaged"};
  }
  KeyPtr own = private_key(key_.reveal());
  must(own != nullptr, "EVP_PKEY_new_raw_private_key");
  auto shared = agreed(own.get(), *ephemeral);
  if (!shared) return shared.error();
  auto aead = key_for(*shared, *ephemeral, public_of(own.get()));
  if (!aead) return aead.error();
  return aead->open(*bytes, associated);
}

Result<void> check_recipient(std::string_view recipient) {
  auto raw = raw_of(recipient);
  return raw ? Result<void>() : Result<void>(raw.error());
}

Result<SealedKey> seal_to(std::string_view recipient, const SecretBuffer& key, std::string_view associated,
                          Random& random) {
  auto to = raw_of(recipient);
  if (!to) return to.error();
  KeyPtr own(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"));
  must(own != nullptr, "EVP_PKEY_Q_keygen");
  const std::string ephemeral = public_of(own.get());
  auto shared = agreed(own.get(), *to);
  if (!shared) return shared.error();
  auto aead = key_for(*shared, ephemeral, *to);
  if (!aead) return aead.error();
  auto sealed = aead->seal(key.reveal(), associated, random);
  if (!sealed) return sealed.error();
  return SealedKey{.recipient = std::string(recipient),
                   .ephemeral = to_base64(ephemeral, Base64::url_unpadded),
                   .sealed = to_base64(*sealed, Base64::url_unpadded)};
}

}  // namespace sluice::crypto
