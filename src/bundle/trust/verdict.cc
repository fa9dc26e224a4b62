// Judges a sidecar in three steps. Each signature is judged by itself, up to the first thing that is wrong with it;
// those that hold are counted, a group's together; and only when there are enough is what they sign read and compared.
// So nothing that an attacker wrote is interpreted before somebody trusted has signed it.
#include "bundle/trust/verdict.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "bundle/trust/sidecar.h"
#include "crypto/dsse.h"

namespace sluice::bundle {
namespace {

// "a1b2… (release key)"
std::string called(const TrustedKey& key) {
  return key.key.key_id() + (key.label.empty() ? "" : " (" + key.label + ")");
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool any_fits(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const std::string& each) { return fits(each, name); });
}

// Packs run with Sluice's own rights, so a key that may sign every bundle may sign none of them: it takes a pattern
// that says packs. "packs" alone means all.
bool covers(const std::vector<std::string>& patterns, std::string_view bundle) {
  if (!bundle.starts_with("packs/")) return any_fits(patterns, bundle);
  return std::ranges::any_of(patterns, [&](const std::string& each) {
    return each == "packs" || (each.starts_with("packs/") && fits(each, bundle));
  });
}

class Judge {
 public:
  Judge(const TrustRoot& root, const Claim& claim, int64_t now_ms) : root_(root), claim_(claim), now_ms_(now_ms) {}

  Verdict judge(const crypto::Envelope& sidecar) {
    signed_bytes_ = crypto::pre_authentication_encoding(sidecar.payload_type, sidecar.payload);
    std::vector<const TrustedKey*> holding;
    std::vector<Refusal> refusals;
    for (const crypto::EnvelopeSignature& signature : sidecar.signatures) {
      if (auto refusal = refuse(signature)) {
        refusals.push_back(*std::move(refusal));
      } else {
        holding.push_back(root_.find(signature.key_id));
      }
    }
    if (holding.empty()) return nearest_to_good(sidecar, refusals);
    std::vector<std::string> counted = count(holding);
    if (counted.empty()) return too_few(holding, refusals);
    return compare(sidecar.payload, std::move(counted));
  }

 private:
  std::optional<Refusal> refuse(const crypto::EnvelopeSignature& signature) const {
    const TrustedKey* key = root_.find(signature.key_id);
    if (key == nullptr) {
      return Refusal{Clause::unknown_key,
                     "it is signed with key " + signature.key_id + ", which is not in the trust root",
                     "sluice trust add PUBLIC-KEY, if you know whose it is and trust them"};
    }
    if (!key->key.verify(signed_bytes_, signature.signature)) {
      return Refusal{Clause::signature_changed,
                     "the signature of key " + called(*key) + " does not hold: it, or what it signs, was changed"};
    }
    if (key->revocation) {
      std::string why = key->revocation->reason.empty() ? "" : ": " + key->revocation->reason;
      return Refusal{Clause::revoked_key,
                     "key " + called(*key) + " was revoked at " + utc_text(key->revocation->at_ms) + why};
    }
    if (key->expires_ms && now_ms_ >= *key->expires_ms) {
      return Refusal{Clause::expired_key, "key " + called(*key) + " expired at " + utc_text(*key->expires_ms),
                     "have it signed with a key that is valid"};
    }
    if (key->not_before_ms && now_ms_ < *key->not_before_ms) {
      return Refusal{Clause::expired_key,
                     "key " + called(*key) + " is not valid before " + utc_text(*key->not_before_ms)};
    }
    if (!any_fits(key->environments, claim_.environment) || !covers(key->bundles, claim_.bundle)) {
      return Refusal{Clause::out_of_scope, "key " + called(*key) + " may not sign bundle " + claim_.bundle +
                                               " for environment " + claim_.environment + ", only " +
                                               listed(key->bundles) + " for " + listed(key->environments)};
    }
    return std::nullopt;
  }

  // Of several that fail, the one that came nearest says what is to be done.
  static const Refusal& farthest(const std::vector<Refusal>& refusals) {
    return *std::ranges::max_element(refusals, {}, &Refusal::clause);
  }

  // A signature that does not hold may be good and only misnamed. To find out costs a try with every key, so it is done
  // for one signature, when nothing else holds.
  Refusal nearest_to_good(const crypto::Envelope& sidecar, const std::vector<Refusal>& refusals) const {
    const Refusal& refusal = farthest(refusals);
    if (refusal.clause > Clause::signature_changed) return refusal;
    const crypto::EnvelopeSignature& first = sidecar.signatures.front();
    for (const TrustedKey& key : root_.keys) {
      if (!key.key.verify(signed_bytes_, first.signature)) continue;
      return {Clause::wrong_key_id,
              "the signature says that key " + first.key_id + " made it, but key " + called(key) + " did"};
    }
    return refusal;
  }

  int64_t threshold_of(const std::string& group) const {
    const TrustGroup* found = root_.find_group(group);
    return found == nullptr ? kMaxThreshold + 1 : found->threshold;
  }

  static std::map<std::string, int64_t> by_group(const std::vector<const TrustedKey*>& keys) {
    std::map<std::string, int64_t> groups;
    for (const TrustedKey* key : keys) ++groups[key->group];
    return groups;
  }

  // The ids of the keys that stand alone or whose group is complete.
  std::vector<std::string> count(const std::vector<const TrustedKey*>& holding) const {
    auto groups = by_group(holding);
    std::vector<std::string> ids;
    for (const TrustedKey* key : holding) {
      if (key->group.empty() || groups[key->group] >= threshold_of(key->group)) ids.push_back(key->key.key_id());
    }
    return ids;
  }

  Refusal too_few(const std::vector<const TrustedKey*>& holding, const std::vector<Refusal>& refusals) const {
    // The group that lacks the fewest.
    auto groups = by_group(holding);
    auto lacks = [&](const auto& each) { return threshold_of(each.first) - each.second; };
    auto nearest = std::ranges::min_element(groups, {}, lacks);
    std::vector<std::string> signers;
    for (const TrustedKey* key : holding) {
      if (key->group == nearest->first) signers.push_back(called(*key));
    }
    std::string message = std::to_string(threshold_of(nearest->first)) + " keys of group " + nearest->first +
                          " must sign, and " + std::to_string(nearest->second) +
                          (nearest->second == 1 ? " does: " : " do: ") + listed(signers);
    if (!refusals.empty()) message += refusals.size() == 1 ? "; another does not count" : "; others do not count";
    for (const Refusal& each : refusals) message += (&each == &refusals.front() ? ": " : "; ") + each.message;
    return {Clause::threshold_not_met, std::move(message), "sluice bundles sign FILE, by another key of the group"};
  }

  Verdict compare(const std::string& payload, std::vector<std::string> counted) const {
    auto statement = read_statement(payload);
    if (!statement) {
      return Refusal{Clause::sidecar_unreadable,
                     "what the sidecar signs is not a statement of a bundle: " + to_string(statement.error())};
    }
    auto changed = [&](const std::string& what, const std::string& found, const std::string& was) {
      return Refusal{Clause::payload_changed, "the " + what + " is " + found + ", but " + was + " was signed"};
    };
    if (statement->bundle != claim_.bundle) return changed("bundle", claim_.bundle, statement->bundle);
    if (statement->tree != claim_.tree) {
      return changed("bundle's tree", crypto::to_string(claim_.tree), crypto::to_string(statement->tree));
    }
    if (claim_.archive && statement->archive != *claim_.archive) {
      return changed("archive", crypto::to_string(*claim_.archive), crypto::to_string(statement->archive));
    }
    return Verified{std::move(counted), *std::move(statement)};
  }

  const TrustRoot& root_;
  const Claim& claim_;
  const int64_t now_ms_;
  std::string signed_bytes_;
};

}  // namespace

std::string_view name_of(Clause clause) {
  switch (clause) {
    case Clause::sidecar_missing:
      return "sidecar missing";
    case Clause::sidecar_unreadable:
      return "sidecar unreadable";
    case Clause::unknown_key:
      return "unknown key";
    case Clause::wrong_key_id:
      return "wrong key id";
    case Clause::signature_changed:
      return "signature changed";
    case Clause::revoked_key:
      return "revoked key";
    case Clause::expired_key:
      return "expired key";
    case Clause::out_of_scope:
      return "key out of scope";
    case Clause::threshold_not_met:
      return "threshold not met";
    case Clause::payload_changed:
      return "payload changed";
  }
  return "";
}

Error to_error(const Refusal& refusal) {
  return {.code = Code::verification_failed, .message = refusal.message, .next = refusal.next};
}

Verdict verify(const TrustRoot& root, const std::optional<std::string>& sidecar, const Claim& claim, int64_t now_ms) {
  if (!sidecar) {
    return Refusal{Clause::sidecar_missing, "bundle " + claim.bundle + " has no sidecar, so nobody vouches for it",
                   "sluice bundles sign FILE, or get FILE.sig.json from where the archive is from"};
  }
  auto envelope = parse_sidecar(*sidecar);
  if (!envelope) {
    return Refusal{Clause::sidecar_unreadable, "the sidecar cannot be read: " + to_string(envelope.error()),
                   envelope.error().next};
  }
  return Judge(root, claim, now_ms).judge(*envelope);
}

}  // namespace sluice::bundle
