// Where random bytes come from. Code that needs them takes a RandomSource, so that a test can give its own; everything
// else passes secure_random.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace sluice::crypto {

// Fills the whole span.
using RandomSource = std::function<void(std::span<uint8_t>)>;

// OpenSSL's generator, seeded by the operating system. It never returns bytes that are not random: if the system has
// none it throws.
void secure_random(std::span<uint8_t> bytes);

}  // namespace sluice::crypto
