// What is signed is canonical JSON, so that the same policy is the same bytes.
#include "deploy/revenue_policy.h"

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "base/basis_points.h"
#include "base/canonical_json.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/terminal.h"
#include "crypto/dsse.h"
#include "crypto/sha256.h"

namespace sluice::deploy {
namespace {

constexpr size_t kMaxParties = 100;
constexpr size_t kMaxPartyName = 100;

bool is_party(const std::string& name) {
  auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; };
  return !name.empty() && name.size() <= kMaxPartyName && std::ranges::all_of(name, fits);
}

Error broken(const std::string& why) {
  return {.code = Code::verification_failed, .message = "the revenue policy before cannot be verified: " + why};
}

}  // namespace

std::string fault_of_shares(const std::vector<RevenueParty>& shares) {
  if (shares.empty()) return "at least one party must have a share";
  if (shares.size() > kMaxParties) return "at most 100 parties share";
  std::set<std::string> named;
  int64_t sum = 0;
  for (const RevenueParty& each : shares) {
    if (!is_party(each.party_id)) {
      return "'" + printable(each.party_id.substr(0, kMaxPartyName)) + "' is no party: letters, digits, -, _ and .";
    }
    if (!named.insert(each.party_id).second) return each.party_id + " is named twice";
    if (each.basis_points < 1 || each.basis_points > kAllBasisPoints) {
      return each.party_id + " cannot have " + std::to_string(each.basis_points) + " bps: a share is 1 to 10000";
    }
    sum += each.basis_points;
  }
  if (sum != kAllBasisPoints) return "the shares sum to " + std::to_string(sum) + " bps, not 10000";
  return "";
}

std::string policy_ref(const std::string& envelope) { return crypto::to_string(crypto::sha256(envelope)); }

Result<std::string> PolicySeal::sign(const RevenuePolicy& policy) const {
  auto key = key_();
  if (!key) return key.error();
  auto text = canonical(to_json(policy));
  if (!text) return text.error();
  auto envelope = crypto::sign_envelope(kRevenuePolicyType, *text, {&*key, 1});
  if (!envelope) return envelope.error();
  return crypto::write_envelope(*envelope);
}

Result<RevenuePolicy> PolicySeal::open(const std::string& text, std::span<const crypto::PublicKey> others) const {
  auto key = key_();
  if (!key) return key.error();
  auto envelope = crypto::parse_envelope(text);
  if (!envelope) return broken(envelope.error().message);
  if (crypto::verified_key_ids(*envelope, {&key->public_key(), 1}).empty() &&
      crypto::verified_key_ids(*envelope, others).empty()) {
    return broken("neither the operator's key " + key->public_key().key_id() +
                  " nor one that is trusted has signed it; next: trust the key that did");
  }
  if (envelope->payload_type != kRevenuePolicyType) return broken("it is something else");
  auto document = parse_json(envelope->payload);
  if (!document) return broken(document.error().message);
  auto policy = read<RevenuePolicy>(*document);
  if (!policy) return broken(to_string(policy.error()));
  return policy;
}

}  // namespace sluice::deploy
