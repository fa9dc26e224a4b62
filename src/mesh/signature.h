// Who signed an artifact, and whether that counts. A signature is Ed25519 over
//
//   "sluice.mesh.artifact.v1" LF trust-domain LF canonical JSON (RFC 8785) of the envelope
//
// where `signature` is this signer's {alg, key_id} without a value, and `cosignatures` is left out. So every signer
// signs under its own name, and a signature is worth nothing in another mesh.
//
//   Trust trust = …;                                   // pinned at enrolment, then what was adopted since
//   auto held = verify(artifact, trust, clock.wall_ms());
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "crypto/ed25519.h"
#include "mesh/artifact.h"

namespace sluice::mesh {

inline constexpr std::string_view kSigningDomain = "sluice.mesh.artifact.v1";

// Whose signatures count, and how many of them together, for each plane.
struct Trust {
  std::string schema = "sluice.mesh.trust.v1";
  std::string trust_domain;
  std::vector<Signer> mgmt_signers;
  uint32_t mgmt_threshold = 1;
  std::vector<Signer> ctrl_signers;
  uint32_t ctrl_threshold = 1;

  bool operator==(const Trust&) const = default;
};
BOOST_DESCRIBE_STRUCT(Trust, (), (schema, trust_domain, mgmt_signers, mgmt_threshold, ctrl_signers, ctrl_threshold))

Result<Trust> parse_trust(std::string_view text, std::string file = "");
// What an agent's artifact asks to be trusted from now on.
Trust trust_of(const Agent& agent, std::string trust_domain);

// What one signer signs: of an envelope, whatever signatures it already has.
Result<std::string> signed_bytes(const json::object& envelope, std::string_view trust_domain, std::string_view key_id);

// The envelope signed by one more signer: the first one is its `signature`, the others are `cosignatures`, for which it
// becomes schema 1.1; all must then sign anew, so that is asked for: `conflict` if a 1.0 envelope has a signature
// already. An envelope with a signature of that key_id gets the new one in its place.
Result<json::object> sign(json::object envelope, std::string_view trust_domain, const SpiffeId& key_id,
                          const crypto::PrivateKey& key);

// Whether enough signers of its plane have signed, and whether it has not expired. `verification_failed` names the
// artifact and what is wrong with which signature. Certificates are not asked: the signers' keys are pinned.
Result<void> verify(const Artifact& artifact, const Trust& trust, int64_t now_ms);

}  // namespace sluice::mesh
