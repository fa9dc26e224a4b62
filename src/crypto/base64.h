// Base64 (RFC 4648). Reading is strict, so that each value has exactly one text: no white space, no character outside
// the alphabet, padding exactly as the alphabet writes it, and the unused bits of the last character zero.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "crypto/secret_buffer.h"

namespace sluice::crypto {

enum class Base64 {
  standard,      // A-Z a-z 0-9 + /, padded with =
  url,           // A-Z a-z 0-9 - _, padded with =
  url_unpadded,  // A-Z a-z 0-9 - _, never padded: for cookies, tokens and file names
};

std::string to_base64(std::string_view bytes, Base64 alphabet = Base64::standard);
void append_base64(std::string_view bytes, Base64 alphabet, std::string& out);

// Errors name the place, never the text.
Result<std::string> from_base64(std::string_view text, Base64 alphabet = Base64::standard);

// The same for text that encodes a secret. The table look-ups depend on the text: for files and settings, not for
// text whose timing a stranger can measure.
Result<SecretBuffer> secret_from_base64(std::string_view text, Base64 alphabet = Base64::standard);

}  // namespace sluice::crypto
