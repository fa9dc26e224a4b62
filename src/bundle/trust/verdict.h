// Whether a bundle may be used: judged from what is in hand, its sidecar, the trust root and the clock.
//
//   Verdict verdict = verify(root, sidecar_text, {.tree = tree, .archive = archive, .bundle = "shop",
//                                                 .environment = "prod"}, clock.wall_ms());
//   if (const Refusal* no = std::get_if<Refusal>(&verdict)) return to_error(*no);
//
// There is no trusted time in a signature, so expiry and revocation are judged now: what an expired or revoked key has
// ever signed does not count any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "bundle/trust/statement.h"
#include "bundle/trust/trust_root.h"
#include "crypto/sha256.h"

namespace sluice::bundle {

// What can be wrong with a signed bundle, in the order in which it is found out.
enum class Clause {
  sidecar_missing,
  sidecar_unreadable,
  unknown_key,
  wrong_key_id,
  signature_changed,
  revoked_key,
  expired_key,
  out_of_scope,
  threshold_not_met,
  payload_changed
};
std::string_view name_of(Clause clause);

struct Refusal {
  Clause clause = Clause::sidecar_missing;
  std::string message;  // one line
  std::string next;

  bool operator==(const Refusal&) const = default;
};

// With Code::verification_failed, so that every clause ends a command with exit code 11.
Error to_error(const Refusal& refusal);

struct Verified {
  std::vector<std::string> keys;  // the ids of those that counted, in the order of their signatures
  Statement statement;            // what they signed
};

using Verdict = std::variant<Verified, Refusal>;

// What somebody holds in hand and wants to use.
struct Claim {
  crypto::Sha256 tree{};
  std::optional<crypto::Sha256> archive;  // nothing: there is only a folder
  std::string bundle;
  std::string environment;
};

// `sidecar` is its file's text, nothing if there is none.
Verdict verify(const TrustRoot& root, const std::optional<std::string>& sidecar, const Claim& claim, int64_t now_ms);

}  // namespace sluice::bundle
