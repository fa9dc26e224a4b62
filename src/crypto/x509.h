// X.509 certificates: read, made and verified here and nowhere else.
//
//   auto ca = make_certificate({.name = "test", .is_ca = true, .until_ms = …}, nullptr, clock_ms);
//   auto leaf = make_certificate({.names = {"shop.example", "127.0.0.1"}, …}, &*ca, clock_ms);
//   auto held = verify_chain(leaf->chain_pem, ca->chain_pem, "shop.example", clock_ms);
//
// Keys that are made are of the curve P-256, or Ed25519 for those who ask.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crypto/secret_buffer.h"

struct x509_st;

namespace sluice::crypto {

inline constexpr size_t kMaxChainBytes = 1 << 20;

struct CertificateFacts {
  std::string subject;  // "CN=shop.example"
  std::string issuer;
  std::vector<std::string> names;  // hosts and addresses that it is of
  std::vector<std::string> uris;   // and URIs
  std::string ed25519;             // its public key, 32 bytes, if it is one of these
  int64_t from_ms = 0;
  int64_t until_ms = 0;
  bool is_ca = false;
  std::string fingerprint;  // "sha256:…" of its DER

  bool operator==(const CertificateFacts&) const = default;
};

CertificateFacts facts_of(x509_st* certificate);

// All certificates of a PEM text, in their order; there is at least one.
Result<std::vector<CertificateFacts>> read_certificates(std::string_view pem);

struct MadeCertificate {
  std::string chain_pem;  // itself, then those that signed it
  SecretBuffer key_pem;   // PKCS#8
};

struct CertificateOrder {
  std::string name;                // the subject's
  std::vector<std::string> names;  // hosts and addresses
  bool is_ca = false;
  int64_t until_ms = 0;
  std::string uri = {};     // a SPIFFE ID
  bool ed25519 = false;     // the kind of its key
  bool signs_only = false;  // it cannot be used for TLS
  // Of a CA: the domains, with all below them, that it may sign for, and of addresses those of this machine alone.
  // Empty: any.
  std::vector<std::string> constrained_to = {};
  std::string acme_digest = {};  // SHA-256 of a key authorization: it only answers a tls-alpn-01 challenge (RFC 8737)
};

// Signed by `issuer`, which is a CA, or by itself.
Result<MadeCertificate> make_certificate(const CertificateOrder& order, const MadeCertificate* issuer, int64_t now_ms);

// A certificate signing request in DER, with a new key: what a certificate authority is asked with.
struct SigningRequest {
  std::string der;
  SecretBuffer key_pem;  // PKCS#8
};
// With the key if one is given, so that a repeat asks for the same.
Result<SigningRequest> make_signing_request(const std::vector<std::string>& names, std::string_view key_pem);

// Whether the first certificate of the chain is of that host or address now (of any if it is empty), and was signed,
// through the others, by one of the roots. The error says what does not hold.
Result<void> verify_chain(std::string_view chain_pem, std::string_view roots_pem, const std::string& host,
                          int64_t now_ms);

}  // namespace sluice::crypto
