// The PEM frame (RFC 7468) around a key: one block, with nothing before it and nothing after it.
//
// The reader is strict, because a key file is written by a program: no explanatory text, no headers, strict base64.
// Text of any size and content is safe to give it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "crypto/secret_buffer.h"

namespace sluice::crypto {

// Far more than any key needs: the longest that people use, RSA with 16,384 bits, takes 13 kB.
inline constexpr size_t kMaxPemBytes = 32 << 10;

struct PemBlock {
  std::string label;  // "PRIVATE KEY", say
  SecretBuffer der;   // secret whatever the label says: the frame cannot know
};

Result<PemBlock> parse_pem(std::string_view text);

}  // namespace sluice::crypto
