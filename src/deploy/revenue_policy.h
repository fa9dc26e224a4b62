// A revenue policy says who shares in what a deployment earns: a signed document, sluice.revenue-policy.v1, of which
// each version names the one before by its digest. PolicySeal signs them with the operator's key, and verifies the
// version before; it is the tool behind Deployment's effects.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "crypto/ed25519.h"

namespace sluice::deploy {

inline constexpr std::string_view kRevenuePolicySchema = "sluice.revenue-policy.v1";
inline constexpr std::string_view kRevenuePolicyType = "application/vnd.sluice.revenue-policy+json";

struct RevenueParty {
  std::string party_id;
  int64_t basis_points = 0;

  bool operator==(const RevenueParty&) const = default;
};
BOOST_DESCRIBE_STRUCT(RevenueParty, (), (party_id, basis_points))

struct RevenuePolicy {
  std::string schema = std::string(kRevenuePolicySchema);
  int64_t version = 1;
  std::string deployment_id;
  std::string env_id;
  std::string bundle_id;
  std::string customer_id;
  std::vector<RevenueParty> revenue_share;
  std::string created_at;
  std::optional<std::string> previous_version_ref;  // the digest of the envelope before

  bool operator==(const RevenuePolicy&) const = default;
};
BOOST_DESCRIBE_STRUCT(RevenuePolicy, (),
                      (schema, version, deployment_id, env_id, bundle_id, customer_id, revenue_share, created_at,
                       previous_version_ref))

// Empty if these are shares: parties with names, each once, from 1 to 10,000 basis points, together 10,000.
std::string fault_of_shares(const std::vector<RevenueParty>& shares);

// "sha256:…" of an envelope's text, by which the next version names it.
std::string policy_ref(const std::string& envelope);

class PolicySeal {
 public:
  explicit PolicySeal(std::function<Result<crypto::PrivateKey>()> key) : key_(std::move(key)) {}

  // The envelope's text.
  Result<std::string> sign(const RevenuePolicy& policy) const;
  // The policy in an envelope that the operator's key has signed, or one of the others, which may be keys that the
  // operator had before; `verification_failed` for any other.
  Result<RevenuePolicy> open(const std::string& envelope, std::span<const crypto::PublicKey> others = {}) const;

 private:
  std::function<Result<crypto::PrivateKey>()> key_;
};

}  // namespace sluice::deploy
