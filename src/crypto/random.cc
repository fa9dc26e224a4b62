// Random bytes by OpenSSL.
#include "crypto/random.h"

#include <openssl/rand.h>

#include <algorithm>

#include "crypto/evp.h"

namespace sluice::crypto {

void secure_random(std::span<uint8_t> bytes) {
  constexpr size_t kPieceBytes = 1 << 20;  // RAND_bytes counts with an int
  while (!bytes.empty()) {
    auto piece = bytes.first(std::min(bytes.size(), kPieceBytes));
    must(RAND_bytes(piece.data(), static_cast<int>(piece.size())) == 1, "RAND_bytes");
    bytes = bytes.subspan(piece.size());
  }
}

}  // namespace sluice::crypto
