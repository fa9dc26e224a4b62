// DSSE v1, the Dead Simple Signing Envelope: a payload, its type, and signatures over both. Bundles carry their
// provenance in one. What is signed is not JSON but the pre-authentication encoding of type and payload, so nothing
// depends on how a writer spells its JSON.
//
//   auto envelope = parse_envelope(text, "signature.json");
//   if (!envelope) return envelope.error();
//   std::vector<std::string> signers = verified_key_ids(*envelope, trusted_keys);
//
// The payload must not be interpreted before verified_key_ids has named enough of the trusted keys.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crypto/ed25519.h"

namespace sluice::crypto {

inline constexpr size_t kMaxEnvelopeBytes = 8 << 20;
inline constexpr size_t kMaxEnvelopePayloadBytes = 4 << 20;
inline constexpr size_t kMaxEnvelopeSignatures = 16;
inline constexpr size_t kMaxPayloadTypeBytes = 256;
inline constexpr size_t kMaxKeyIdBytes = 256;
inline constexpr size_t kMaxSignatureBytes = 1024;  // room for those of other algorithms, which verify nothing here

struct EnvelopeSignature {
  std::string key_id;     // a hint which nothing authenticates; may be empty
  std::string signature;  // raw bytes

  bool operator==(const EnvelopeSignature&) const = default;
};

struct Envelope {
  std::string payload_type;
  std::string payload;  // raw bytes
  std::vector<EnvelopeSignature> signatures;

  bool operator==(const Envelope&) const = default;
};

// PAE(type, body) = "DSSEv1" SP LEN(type) SP type SP LEN(body) SP body, lengths in bytes, as decimal digits.
std::string pre_authentication_encoding(std::string_view type, std::string_view body);

// Reads an envelope strictly: unknown and repeated fields, bad base64, no signatures, two signatures with one key id
// and anything beyond the limits above are errors. Payload and signatures may be in standard or URL-safe base64, both
// padded. `file` is how errors name the text.
Result<Envelope> parse_envelope(std::string_view text, std::string file = "");

// One line of JSON with standard base64; parse_envelope reads it back.
std::string write_envelope(const Envelope& envelope);

// An envelope signed with each of the keys, in their order. Fails on what parse_envelope would refuse.
Result<Envelope> sign_envelope(std::string_view payload_type, std::string_view payload,
                               std::span<const PrivateKey> keys);

// The ids of the trusted keys of which a signature holds, each once, in the order of `trusted`. Empty if there is none.
// A signature is tried with the key its key id names; with all of them if it has no key id or names none of them.
std::vector<std::string> verified_key_ids(const Envelope& envelope, std::span<const PublicKey> trusted);

}  // namespace sluice::crypto
