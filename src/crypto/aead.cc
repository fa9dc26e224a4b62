// AES-256-GCM by OpenSSL.
#include "crypto/aead.h"

#include <algorithm>
#include <array>

#include "crypto/evp.h"

namespace sluice::crypto {

namespace {

Error too_long(std::string_view what, size_t size, size_t limit) {
  return Error{.code = Code::limit,
               .message = std::string(what) + " is " + std::to_string(size) + " bytes long; at most " +
                          std::to_string(limit) + " can be sealed",
               .next = "split it"};
}

}  // namespace

Result<Aead> Aead::with_key(SecretBuffer key) {
  if (key.size() != kKeyBytes) {
    return Error{.code = Code::invalid,
                 .message = "an AES-256 key is 32 bytes long, this one is " + std::to_string(key.size()),
                 .next = "make one with: openssl rand 32"};
  }
  return Aead(std::move(key));
}

Aead Aead::with_new_key(Random& random) {
  SecretBuffer key(kKeyBytes);
  random.fill(key.writable());
  return Aead(std::move(key));
}

Result<std::string> Aead::seal(std::string_view secret, std::string_view associated, Random& random) const {
  if (secret.size() > kMaxSecretBytes) return too_long("the secret", secret.size(), kMaxSecretBytes);
  if (associated.size() > kMaxAssociatedBytes) {
    return too_long("the associated data", associated.size(), kMaxAssociatedBytes);
  }
  std::string sealed(kNonceBytes + secret.size() + kTagBytes, '\0');
  auto* nonce = reinterpret_cast<unsigned char*>(sealed.data());
  unsigned char* text = nonce + kNonceBytes;
  unsigned char* tag = text + secret.size();
  random.fill(std::span(nonce, kNonceBytes));

  CipherPtr cipher(EVP_CIPHER_CTX_new());
  int length = 0;
  must(cipher && EVP_EncryptInit_ex2(cipher.get(), EVP_aes_256_gcm(), as_bytes(key_.reveal()), nonce, nullptr) == 1 &&
           (associated.empty() || EVP_EncryptUpdate(cipher.get(), nullptr, &length, as_bytes(associated),
                                                    static_cast<int>(associated.size())) == 1) &&
           (secret.empty() ||
            EVP_EncryptUpdate(cipher.get(), text, &length, as_bytes(secret), static_cast<int>(secret.size())) == 1) &&
           EVP_EncryptFinal_ex(cipher.get(), tag, &length) == 1 &&
           EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag) == 1,
       "EVP_EncryptFinal_ex");
  return sealed;
}

Result<SecretBuffer> Aead::open(std::string_view sealed, std::string_view associated) const {
  const Error refused{
      .code = Code::verification_failed,
      .message = "the sealed text does not open: it was changed, or sealed with another key or for another name",
      .next = "restore the sealed text or the key from a backup"};
  if (sealed.size() < kNonceBytes + kTagBytes || sealed.size() > kNonceBytes + kMaxSecretBytes + kTagBytes ||
      associated.size() > kMaxAssociatedBytes) {
    return refused;
  }
  const std::string_view nonce = sealed.substr(0, kNonceBytes);
  const std::string_view text = sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
  std::array<unsigned char, kTagBytes> tag;
  std::copy(sealed.end() - kTagBytes, sealed.end(), tag.begin());

  CipherPtr cipher(EVP_CIPHER_CTX_new());
  SecretBuffer secret(text.size());
  int length = 0;
  must(cipher &&
           EVP_DecryptInit_ex2(cipher.get(), EVP_aes_256_gcm(), as_bytes(key_.reveal()), as_bytes(nonce), nullptr) ==
               1 &&
           (associated.empty() || EVP_DecryptUpdate(cipher.get(), nullptr, &length, as_bytes(associated),
                                                    static_cast<int>(associated.size())) == 1) &&
           (text.empty() || EVP_DecryptUpdate(cipher.get(), secret.writable().data(), &length, as_bytes(text),
                                              static_cast<int>(text.size())) == 1) &&
           EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1,
       "EVP_DecryptUpdate");
  unsigned char none = 0;
  const bool authentic = EVP_DecryptFinal_ex(cipher.get(), &none, &length) == 1;
  ERR_clear_error();
  if (!authentic) return refused;
  return secret;
}

}  // namespace sluice::crypto
