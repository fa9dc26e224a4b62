// The time is signed and bounded, so that a proof that was seen cannot be used for long; what it would fetch is the
// same node's artifacts, which hold no secret.
#include "mesh/proof.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "crypto/base64.h"
#include "crypto/sha256.h"
#include "crypto/x509.h"

namespace sluice::mesh {
namespace proof {

std::string message_of(const Asked& asked, int64_t time_ms) {
  return "sluice.mesh.fetch.v1\n" + asked.trust_domain + "\n" + asked.method + " " + asked.target + "\n" +
         std::to_string(time_ms) + "\n" + crypto::to_string(crypto::sha256(asked.body));
}

Error unknown(std::string message) {
  return {.code = Code::unauthenticated,
          .message = std::move(message),
          .next = "enrol the node again with a new bundle, or set its clock"};
}

}  // namespace proof

std::string prove(const Asked& asked, const crypto::PrivateKey& key, int64_t now_ms) {
  return std::to_string(now_ms) + " " + crypto::to_base64(crypto::as_view(key.sign(proof::message_of(asked, now_ms))));
}

Result<std::string> proved(const Asked& asked, std::string_view certificate, std::string_view text,
                           std::string_view ca_pem, int64_t now_ms) {
  using proof::unknown;
  auto pem = crypto::from_base64(certificate);
  if (!pem) return unknown("the certificate is not base64");
  auto facts = crypto::read_certificates(*pem);
  if (!facts) return unknown("the certificate cannot be read");
  if (auto held = crypto::verify_chain(*pem, ca_pem, "", now_ms); !held)
    return unknown("the certificate does not hold: " + held.error().message);
  const crypto::CertificateFacts& own = facts->front();
  if (own.uris.size() != 1 || !own.uris.front().starts_with("spiffe://" + asked.trust_domain + "/") ||
      own.ed25519.empty())
    return unknown("the certificate is of no principal of " + asked.trust_domain);
  const size_t blank = text.find(' ');
  int64_t time_ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + std::min(blank, text.size()), time_ms);
  if (blank == std::string_view::npos || error != std::errc() || end != text.data() + blank)
    return unknown("the proof is not a time and a signature");
  if (std::abs(now_ms - time_ms) > kProofValid_ms) return unknown("the proof is too old, or the clocks differ");
  auto signature = crypto::from_base64(text.substr(blank + 1));
  auto key = crypto::PublicKey::from_raw(own.ed25519);
  if (!signature || !key || !key->verify(proof::message_of(asked, time_ms), *signature))
    return unknown("the proof does not hold");
  return own.uris.front();
}

}  // namespace sluice::mesh
