// scrypt (RFC 7914): a key from a passphrase that people can remember, made slow and hungry for memory on purpose.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "crypto/secret_buffer.h"

namespace sluice::crypto {

struct ScryptCost {
  uint64_t n = 1 << 15;  // a power of two; memory is 128 × n × r bytes
  uint32_t r = 8;
  uint32_t p = 1;
};

// The most memory that a text from outside may ask for.
inline constexpr uint64_t kMaxScryptBytes = 256ULL << 20;

// `limit` or `invalid` for a cost that is too high or makes no sense.
Result<SecretBuffer> scrypt(std::string_view passphrase, std::string_view salt, const ScryptCost& cost, size_t bytes);

}  // namespace sluice::crypto
