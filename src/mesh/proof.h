// How a node shows a config server who it is when it asks for its artifacts: it signs the request with the key of its
// own certificate. So a server that listens on loopback behind a vertex, without TLS of its own, still gives a node
// only what is its own.
//
//   Sluice-Mesh-Certificate: base64 of the certificate in PEM
//   Sluice-Mesh-Proof: UNIX-TIME-IN-MS BASE64 of an Ed25519 signature over
//     "sluice.mesh.fetch.v1" LF trust-domain LF METHOD SP TARGET LF UNIX-TIME-IN-MS LF sha256 of the body
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "crypto/ed25519.h"

namespace sluice::mesh {

inline constexpr std::string_view kCertificateHeader = "Sluice-Mesh-Certificate";
inline constexpr std::string_view kProofHeader = "Sluice-Mesh-Proof";
inline constexpr int64_t kProofValid_ms = 5 * 60 * 1000;  // clocks differ

struct Asked {
  std::string trust_domain;
  std::string method;
  std::string target;
  std::string body;
};

std::string prove(const Asked& asked, const crypto::PrivateKey& key, int64_t now_ms);

// The principal that asks, "spiffe://acme/node/web". `unauthenticated`: the certificate is not of this mesh or has
// expired, the signature does not hold, or it is too old.
Result<std::string> proved(const Asked& asked, std::string_view certificate, std::string_view proof,
                           std::string_view ca_pem, int64_t now_ms);

}  // namespace sluice::mesh
