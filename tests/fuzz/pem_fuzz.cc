// Keys in PEM: any text gives a key or an error, as a private key and as a public one. A key that is read is written
// and read back equal.
// covers: src/crypto/pem.cc src/crypto/ed25519.cc
#include <cassert>
#include <cstdint>
#include <string_view>

#include "crypto/ed25519.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice::crypto;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (auto key = PrivateKey::from_pem(text)) {
    assert(PrivateKey::from_pem(key->to_pem().reveal()).value().public_key() == key->public_key());
  } else {
    assert(!key.error().message.empty());
  }
  if (auto key = PublicKey::from_pem(text)) {
    assert(PublicKey::from_pem(key->to_pem()).value() == *key);
  } else {
    assert(!key.error().message.empty());
  }
  return 0;
}
