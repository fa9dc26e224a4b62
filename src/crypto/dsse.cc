// The envelope as the DSSE specification has it: https://github.com/secure-systems-lab/dsse
#include "crypto/dsse.h"

#include <algorithm>
#include <boost/describe.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/base64.h"

namespace sluice::crypto {

namespace {

constexpr size_t kMaxDepth = 4;
constexpr size_t kMaxNodes = 1000;  // an envelope has far fewer; a flood of signatures never becomes a tree

// The JSON of an envelope; the names are the specification's.
struct SignatureJson {
  std::string keyid;
  std::string sig;
  static constexpr std::string_view kDefaulted[] = {"keyid"};
};
BOOST_DESCRIBE_STRUCT(SignatureJson, (), (keyid, sig))

struct EnvelopeJson {
  std::string payloadType;
  std::string payload;
  std::vector<SignatureJson> signatures;
};
BOOST_DESCRIBE_STRUCT(EnvelopeJson, (), (payloadType, payload, signatures))

Error invalid(std::string path, std::string message, std::string next = "") {
  return Error{.code = Code::invalid, .message = std::move(message), .next = std::move(next), .path = std::move(path)};
}

Error over_limit(std::string path, std::string_view what, size_t found, size_t limit) {
  return Error{.code = Code::limit,
               .message = "at most " + std::to_string(limit) + " " + std::string(what) + " are allowed, found " +
                          std::to_string(found),
               .path = std::move(path)};
}

std::string signature_path(size_t index) { return "/signatures/" + std::to_string(index); }

Result<void> check_count(size_t signatures) {
  if (signatures == 0)
    return invalid("/signatures", "expected at least one signature, found none", "sign it with a key");
  if (signatures > kMaxEnvelopeSignatures) {
    return over_limit("/signatures", "signatures", signatures, kMaxEnvelopeSignatures);
  }
  return {};
}

// What must hold for every envelope, read or made; paths are those of the JSON.
Result<void> check(const Envelope& envelope) {
  if (envelope.payload_type.empty())
    return invalid("/payloadType", "expected a media type or a URI, found nothing",
                   "say what the payload is, as in application/json");
  if (envelope.payload_type.size() > kMaxPayloadTypeBytes) {
    return over_limit("/payloadType", "bytes of payload type", envelope.payload_type.size(), kMaxPayloadTypeBytes);
  }
  auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (!std::ranges::all_of(envelope.payload_type, printable)) {
    return invalid("/payloadType", "expected a media type or a URI, found characters that are not printable ASCII");
  }
  if (envelope.payload.size() > kMaxEnvelopePayloadBytes) {
    return over_limit("/payload", "bytes of payload", envelope.payload.size(), kMaxEnvelopePayloadBytes);
  }
  if (auto counted = check_count(envelope.signatures.size()); !counted) return counted;
  for (size_t i = 0; i < envelope.signatures.size(); ++i) {
    const EnvelopeSignature& one = envelope.signatures[i];
    if (one.key_id.size() > kMaxKeyIdBytes) {
      return over_limit(signature_path(i) + "/keyid", "bytes of key id", one.key_id.size(), kMaxKeyIdBytes);
    }
    if (one.signature.empty()) return invalid(signature_path(i) + "/sig", "expected a signature, found nothing");
    if (one.signature.size() > kMaxSignatureBytes) {
      return over_limit(signature_path(i) + "/sig", "bytes of signature", one.signature.size(), kMaxSignatureBytes);
    }
    auto same = [&](const EnvelopeSignature& other) { return !one.key_id.empty() && other.key_id == one.key_id; };
    if (std::any_of(envelope.signatures.begin(), envelope.signatures.begin() + static_cast<ptrdiff_t>(i), same)) {
      return invalid(signature_path(i) + "/keyid", "an earlier signature has the same key id",
                     "keep one signature of each key");
    }
  }
  return {};
}

Result<std::string> decode(std::string_view text, std::string path) {
  const bool url = text.find_first_of("-_") != std::string_view::npos;
  auto bytes = from_base64(text, url ? Base64::url : Base64::standard);
  if (!bytes) return invalid(std::move(path), bytes.error().message, bytes.error().next);
  return bytes;
}

Result<Envelope> from_json(const EnvelopeJson& json) {
  Envelope envelope{.payload_type = json.payloadType};
  auto payload = decode(json.payload, "/payload");
  if (!payload) return payload.error();
  envelope.payload = *std::move(payload);
  // Before they are decoded, so that a flood of signatures costs nothing.
  if (auto counted = check_count(json.signatures.size()); !counted) return counted.error();
  for (size_t i = 0; i < json.signatures.size(); ++i) {
    auto signature = decode(json.signatures[i].sig, signature_path(i) + "/sig");
    if (!signature) return signature.error();
    envelope.signatures.push_back({.key_id = json.signatures[i].keyid, .signature = *std::move(signature)});
  }
  if (auto sound = check(envelope); !sound) return sound.error();
  return envelope;
}

}  // namespace

std::string pre_authentication_encoding(std::string_view type, std::string_view body) {
  std::string encoding = "DSSEv1 " + std::to_string(type.size()) + ' ';
  encoding.reserve(encoding.size() + type.size() + body.size() + 24);
  encoding.append(type).append(" ").append(std::to_string(body.size())).append(" ").append(body);
  return encoding;
}

Result<Envelope> parse_envelope(std::string_view text, std::string file) {
  auto document = parse_json(text, std::move(file),
                             {.max_depth = kMaxDepth, .max_bytes = kMaxEnvelopeBytes, .max_nodes = kMaxNodes});
  if (!document) return document.error();
  auto json = read<EnvelopeJson>(*document);
  if (!json) return json.error();
  auto envelope = from_json(*json);
  if (envelope) return envelope;
  Error error = std::move(envelope).error();
  error.position = document->position_of(error.path);
  return error;
}

std::string write_envelope(const Envelope& envelope) {
  EnvelopeJson json{.payloadType = envelope.payload_type, .payload = to_base64(envelope.payload)};
  for (const EnvelopeSignature& one : envelope.signatures) {
    json.signatures.push_back({.keyid = one.key_id, .sig = to_base64(one.signature)});
  }
  return write(to_json(json));
}

Result<Envelope> sign_envelope(std::string_view payload_type, std::string_view payload,
                               std::span<const PrivateKey> keys) {
  Envelope envelope{.payload_type = std::string(payload_type), .payload = std::string(payload)};
  const std::string signed_bytes = pre_authentication_encoding(payload_type, payload);
  for (const PrivateKey& key : keys) {
    envelope.signatures.push_back(
        {.key_id = key.public_key().key_id(), .signature = std::string(as_view(key.sign(signed_bytes)))});
  }
  if (auto sound = check(envelope); !sound) return sound.error();
  return envelope;
}

std::vector<std::string> verified_key_ids(const Envelope& envelope, std::span<const PublicKey> trusted) {
  const std::string signed_bytes = pre_authentication_encoding(envelope.payload_type, envelope.payload);
  std::vector<std::string> ids;
  for (const PublicKey& key : trusted) ids.push_back(key.key_id());

  std::vector<std::string> verified;
  for (size_t i = 0; i < trusted.size(); ++i) {
    auto holds = [&](const EnvelopeSignature& one) {
      const bool named = std::ranges::find(ids, one.key_id) != ids.end();
      return (!named || one.key_id == ids[i]) && trusted[i].verify(signed_bytes, one.signature);
    };
    if (std::ranges::find(verified, ids[i]) == verified.end() && std::ranges::any_of(envelope.signatures, holds)) {
      verified.push_back(ids[i]);
    }
  }
  return verified;
}

}  // namespace sluice::crypto
