// Debug tokens: an operator's signed leave to send requests to one revision, whatever its weight, for a short time.
// Minted by the control plane, believed by routers whose table has the key.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "crypto/ed25519.h"

namespace sluice::router {

struct DebugToken {
  std::string environment;
  std::string deployment;
  std::string revision;   // "*": any of the deployment's
  int64_t expires_s = 0;  // Unix time

  bool operator==(const DebugToken&) const = default;
};

inline constexpr size_t kMaxDebugTokenBytes = 1'024;

std::string write_debug_token(const DebugToken& token, const crypto::PrivateKey& key);

// Fails with `verification_failed` unless one of the keys has signed it. Whether it has expired, and what it is for, is
// the caller's to compare.
Result<DebugToken> read_debug_token(std::string_view text, std::span<const crypto::PublicKey> trusted);

}  // namespace sluice::router
