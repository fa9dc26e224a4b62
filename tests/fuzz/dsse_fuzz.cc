// DSSE envelopes: any text gives an envelope or an error. One that is read is written and read back equal, and
// verifying it against a key that signed nothing names nobody.
// covers: src/crypto/dsse.cc
#include <array>
#include <cassert>
#include <cstdint>
#include <string_view>

#include "crypto/dsse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice::crypto;
  static const PublicKey stranger =
      PrivateKey::from_seed(std::array<uint8_t, PrivateKey::kSeedBytes>{'s', 'e', 'e', 'd'}).public_key();
  auto envelope = parse_envelope(std::string_view(reinterpret_cast<const char*>(bytes), size), "fuzz.json");
  if (!envelope) {
    assert(!envelope.error().message.empty());
    return 0;
  }
  assert(parse_envelope(write_envelope(*envelope)).value() == *envelope);
  assert(verified_key_ids(*envelope, std::span(&stranger, 1)).empty());
  return 0;
}
