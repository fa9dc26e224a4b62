// SHA-256, whole or in pieces. Digests are written "sha256:<64 hex digits>" wherever people or files see them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::crypto {

using Sha256 = std::array<uint8_t, 32>;

Sha256 sha256(std::string_view bytes);

// "sha256:" and 64 lowercase hex digits.
std::string to_string(const Sha256& digest);

}  // namespace sluice::crypto
