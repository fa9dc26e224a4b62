// What an authority does with a signing request (crypto/x509.h makes them): whoever asks keeps the key, and gets a
// certificate for it.
//
//   auto key = key_in_request(der);                       // that the request is signed with
//   auto chain = certify_request(der, {.uri = …, .until_ms = …}, ca, now_ms);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "crypto/x509.h"

namespace sluice::crypto {

// "sha256:…" of the public key, if the request is signed with its private key; else `verification_failed`.
Result<std::string> key_in_request(std::string_view der);
// The same of the first certificate of a PEM text.
Result<std::string> key_in_certificate(std::string_view pem);

// The chain, in PEM, of a certificate for the request's key. What the order says counts; what the request says does
// not.
Result<std::string> certify_request(std::string_view der, const CertificateOrder& order, const MadeCertificate& issuer,
                                    int64_t now_ms);

}  // namespace sluice::crypto
