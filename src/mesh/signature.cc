// Every signature of the artifact must hold, not only as many as the threshold asks for: a broken one is a sign of
// tampering or of a broken tool, and nobody should have to wonder which of them counted.
#include "mesh/signature.h"

#include <boost/json.hpp>
#include <set>

#include "base/canonical_json.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/base64.h"

namespace sluice::mesh {
namespace {

Error unverified(const Artifact& artifact, std::string reason, std::string next = "") {
  return {.code = Code::verification_failed,
          .message =
              artifact.identity() + " version " + std::to_string(artifact.envelope.version) + ": " + std::move(reason),
          .next = std::move(next)};
}

const Signer* find_signer(const std::vector<Signer>& signers, const SpiffeId& id) {
  for (const Signer& each : signers) {
    if (each.spiffe_id == id) return &each;
  }
  return nullptr;
}

}  // namespace

Result<Trust> parse_trust(std::string_view text, std::string file) {
  auto document = parse_json(text, std::move(file));
  if (!document) return document.error();
  auto trust = read<Trust>(*document);
  if (!trust) return trust;
  if (trust->schema != "sluice.mesh.trust.v1")
    return Error{.code = Code::invalid, .message = "this is not a sluice.mesh.trust.v1", .path = "/schema"};
  if (!is_trust_domain(trust->trust_domain))
    return Error{.code = Code::invalid, .message = "this is not a trust domain", .path = "/trust_domain"};
  const auto possible = [](uint32_t threshold, const std::vector<Signer>& signers) {
    return threshold >= 1 && (signers.empty() || threshold <= signers.size());
  };
  if (trust->mgmt_signers.empty() || !possible(trust->mgmt_threshold, trust->mgmt_signers)) {
    return Error{
        .code = Code::invalid, .message = "the mgmt signers cannot reach their threshold", .path = "/mgmt_threshold"};
  }
  if (!possible(trust->ctrl_threshold, trust->ctrl_signers)) {
    return Error{
        .code = Code::invalid, .message = "the ctrl signers cannot reach their threshold", .path = "/ctrl_threshold"};
  }
  return trust;
}

Trust trust_of(const Agent& agent, std::string trust_domain) {
  return {.trust_domain = std::move(trust_domain),
          .mgmt_signers = agent.trust.authorized_mgmt_signers,
          .mgmt_threshold = agent.trust.mgmt_threshold.value_or(1),
          .ctrl_signers = agent.trust.authorized_ctrl_signers.value_or(std::vector<Signer>()),
          .ctrl_threshold = agent.trust.ctrl_threshold.value_or(1)};
}

Result<std::string> signed_bytes(const json::object& envelope, std::string_view trust_domain, std::string_view key_id) {
  json::object claims;
  claims.reserve(envelope.size());
  for (const auto& each : envelope) {
    if (each.key() != "signature" && each.key() != "cosignatures") claims.emplace(each.key(), each.value());
  }
  claims.emplace("signature", json::object{{"alg", "ed25519"}, {"key_id", key_id}});
  auto bytes = canonical(claims);
  if (!bytes) return bytes;
  std::string message(kSigningDomain);
  message.append("\n").append(trust_domain).append("\n").append(*bytes);
  return message;
}

Result<json::object> sign(json::object envelope, std::string_view trust_domain, const SpiffeId& key_id,
                          const crypto::PrivateKey& key) {
  const json::value* first = envelope.if_contains("signature");
  const auto key_id_of = [](const json::value& signature) {
    return std::string_view(signature.at("key_id").as_string());
  };
  const bool cosigns = first != nullptr && key_id_of(*first) != key_id;
  if (cosigns && envelope.at("schema_version").as_string() == "1.0") {
    return Error{.code = Code::conflict,
                 .message = "an artifact of schema 1.0 has one signature, and this one has that of " +
                            std::string(key_id_of(*first)),
                 .next = "compile it with a threshold above 1, which makes it 1.1, then let each signer sign"};
  }
  auto message = signed_bytes(envelope, trust_domain, key_id);
  if (!message) return message.error();
  json::object signature = {{"alg", "ed25519"},
                            {"key_id", std::string_view(key_id)},
                            {"value", crypto::to_base64(crypto::as_view(key.sign(*message)))}};
  if (!cosigns) {
    envelope["signature"] = std::move(signature);
    return envelope;
  }
  if (!envelope.contains("cosignatures")) envelope["cosignatures"] = json::array();
  json::array& others = envelope["cosignatures"].as_array();
  for (json::value& each : others) {
    if (key_id_of(each) != key_id) continue;
    each = std::move(signature);
    return envelope;
  }
  others.push_back(std::move(signature));
  return envelope;
}

Result<void> verify(const Artifact& artifact, const Trust& trust, int64_t now_ms) {
  const bool ctrl = artifact.is_ctrl();
  const std::vector<Signer>& signers = ctrl ? trust.ctrl_signers : trust.mgmt_signers;
  const uint32_t threshold = ctrl ? trust.ctrl_threshold : trust.mgmt_threshold;
  std::vector<const ArtifactSignature*> all = {&artifact.envelope.signature};
  if (artifact.envelope.cosignatures) {
    for (const ArtifactSignature& each : *artifact.envelope.cosignatures) all.push_back(&each);
  }
  std::set<std::string_view> keys;
  for (const ArtifactSignature* each : all) {
    if (each->key_id.domain() != trust.trust_domain) {
      return unverified(artifact,
                        "signed by " + each->key_id + ", which is not of the trust domain " + trust.trust_domain);
    }
    const Signer* signer = find_signer(signers, each->key_id);
    if (signer == nullptr) {
      return unverified(
          artifact, "signed by " + each->key_id + ", which is no trusted " + std::string(artifact.plane()) + " signer");
    }
    auto message = signed_bytes(artifact.tree, trust.trust_domain, each->key_id);
    if (!message) return unverified(artifact, message.error().message);
    auto key = crypto::PublicKey::from_raw(signer->pubkey.bytes());
    if (!key || !key->verify(*message, each->value.bytes())) {
      return unverified(artifact,
                        "the signature of " + each->key_id +
                            " does not hold: the artifact was changed, or signed for another mesh or with another key");
    }
    if (!keys.insert(signer->pubkey).second) return unverified(artifact, "signed twice by " + each->key_id);
  }
  if (keys.size() < threshold) {
    return unverified(artifact,
                      std::to_string(keys.size()) + " of " + std::to_string(threshold) + " signatures that are needed");
  }
  if (artifact.envelope.expires_at && artifact.envelope.expires_at->ms() <= now_ms) {
    return unverified(artifact, "expired at " + *artifact.envelope.expires_at, "compile and sign it again");
  }
  return {};
}

}  // namespace sluice::mesh
