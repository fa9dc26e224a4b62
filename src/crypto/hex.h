// Bytes as lowercase hex digits. Reading is strict: one text for one value, so uppercase digits are refused.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::crypto {

std::string to_hex(std::span<const uint8_t> bytes);
std::string to_hex(std::string_view bytes);

// Fails on an odd number of digits and on anything but 0-9 and a-f. Errors name the place, never the text.
Result<std::string> from_hex(std::string_view text);

}  // namespace sluice::crypto
