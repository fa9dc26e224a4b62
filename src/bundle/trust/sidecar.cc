// An envelope with rules of our own: one payload type, and key ids that say which key it was.
#include "bundle/trust/sidecar.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "bundle/trust/field_fault.h"

namespace sluice::bundle {
namespace {

constexpr uint32_t kMode = 0644;
constexpr size_t kKeyIdDigits = 32;

bool is_key_id(std::string_view text) {
  auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == kKeyIdDigits && std::ranges::all_of(text, digit);
}

}  // namespace

std::string sidecar_path(std::string_view archive) { return std::string(archive) + ".sig.json"; }

Result<crypto::Envelope> sign_statement(const Statement& statement, std::span<const crypto::PrivateKey> keys) {
  auto payload = write_statement(statement);
  if (!payload) return payload.error();
  return crypto::sign_envelope(kStatementType, *payload, keys);
}

Result<void> add_signature(crypto::Envelope& sidecar, const crypto::PrivateKey& key) {
  auto made = crypto::sign_envelope(sidecar.payload_type, sidecar.payload, {&key, 1});
  if (!made) return made.error();
  crypto::EnvelopeSignature& one = made->signatures.front();
  auto same = std::ranges::find(sidecar.signatures, one.key_id, &crypto::EnvelopeSignature::key_id);
  if (same != sidecar.signatures.end()) {
    *same = std::move(one);
    return {};
  }
  if (sidecar.signatures.size() >= crypto::kMaxEnvelopeSignatures) {
    return Error{.code = Code::limit,
                 .message = "the sidecar has " + std::to_string(crypto::kMaxEnvelopeSignatures) +
                            " signatures, and cannot hold more"};
  }
  sidecar.signatures.push_back(std::move(one));
  return {};
}

std::string write_sidecar_text(const crypto::Envelope& sidecar) { return crypto::write_envelope(sidecar) + "\n"; }

Result<void> write_sidecar(Disk& disk, const std::string& path, const crypto::Envelope& sidecar) {
  return write_atomically(disk, path, write_sidecar_text(sidecar), kMode);
}

Result<std::optional<std::string>> read_sidecar(Disk& disk, const std::string& path) {
  auto text = read_file(disk, path, kMaxSidecarBytes);
  if (text) return std::optional(*std::move(text));
  if (text.error().code == Code::not_found) return std::optional<std::string>();
  return text.error();
}

Result<crypto::Envelope> parse_sidecar(std::string_view text, std::string file) {
  if (text.size() > kMaxSidecarBytes) {
    return Error{.code = Code::limit,
                 .message = "a sidecar has at most " + std::to_string(kMaxSidecarBytes) + " bytes"};
  }
  auto envelope = crypto::parse_envelope(text, std::move(file));
  if (!envelope) return envelope;
  if (envelope->payload_type != kStatementType) {
    return invalid("/payloadType", "expected " + std::string(kStatementType) + ", found " + envelope->payload_type);
  }
  for (size_t i = 0; i < envelope->signatures.size(); ++i) {
    if (!is_key_id(envelope->signatures[i].key_id)) {
      return invalid("/signatures/" + std::to_string(i) + "/keyid", "expected the key's id, 32 lowercase hex digits");
    }
  }
  return envelope;
}

}  // namespace sluice::bundle
