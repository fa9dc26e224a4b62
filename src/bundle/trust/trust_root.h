// The trust root: whose signatures count, for which environments and bundles, from when until when, how many of them
// together, and which are revoked. With it, a sidecar and the clock everything can be judged (bundle/trust/verdict.h):
// nothing asks the network.
//
// A key in a group counts only together with as many others of the group as its threshold wants; a key without a group
// counts alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crypto/ed25519.h"

namespace sluice::bundle {

inline constexpr std::string_view kTrustRootSchema = "sluice.trust-root.v1";
inline constexpr size_t kMaxTrustRootBytes = 4 << 20;
inline constexpr size_t kMaxTrustedKeys = 256;
inline constexpr size_t kMaxPatterns = 64;       // of one key, of each kind
inline constexpr size_t kMaxPatternBytes = 128;  // also of the names of groups, bundles and environments
inline constexpr size_t kMaxSentenceBytes = 512;
inline constexpr int64_t kMaxThreshold = 16;  // as many signatures as an envelope can hold

struct Revocation {
  int64_t at_ms = 0;
  std::string reason;

  bool operator==(const Revocation&) const = default;
};

struct TrustedKey {
  crypto::PublicKey key;
  std::string label;                      // for people: whose it is
  std::vector<std::string> environments;  // patterns, in which * stands for any characters and ? for one
  std::vector<std::string> bundles;
  std::optional<int64_t> not_before_ms, expires_ms;
  std::string group;  // empty: it counts alone
  std::optional<Revocation> revocation;

  bool operator==(const TrustedKey&) const = default;
};

struct TrustGroup {
  std::string name;
  int64_t threshold = 1;

  bool operator==(const TrustGroup&) const = default;
};

struct TrustRoot {
  std::vector<TrustedKey> keys;
  std::vector<TrustGroup> groups;

  const TrustedKey* find(std::string_view key_id) const;
  const TrustGroup* find_group(std::string_view name) const;
};

// Whether a name fits a pattern.
bool fits(std::string_view pattern, std::string_view name);

// What must hold for each part; the paths of the errors are those of its JSON: "/environments/0".
Result<void> check(const TrustedKey& key);
Result<void> check(const TrustGroup& group);
// Of a label or a reason: one line of UTF-8 without control characters.
Result<void> check_sentence(std::string_view text);

// Strict: unknown fields, a key id that is not the key's, two keys with one id and a group that is not there are
// errors.
Result<TrustRoot> parse_trust_root(std::string_view text, std::string file = "");
// Canonical JSON, keys by id and groups by name: equal roots are equal bytes.
Result<std::string> write_trust_root(const TrustRoot& root);

}  // namespace sluice::bundle
