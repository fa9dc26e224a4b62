// Certificates that are made here are read back and verified, and what does not hold is told.
#include "crypto/x509.h"

#include <gtest/gtest.h>

#include "crypto/signing_request.h"

namespace sluice::crypto {
namespace x509_test {

constexpr int64_t kNow_ms = 1'900'000'000'000;
constexpr int64_t kYear_ms = int64_t{365} * 86'400'000;

MadeCertificate ca(const std::string& name = "the root") {
  return make_certificate({.name = name, .is_ca = true, .until_ms = kNow_ms + kYear_ms}, nullptr, kNow_ms).value();
}

MadeCertificate leaf(const MadeCertificate& issuer, int64_t until_ms = kNow_ms + kYear_ms) {
  return make_certificate({.names = {"shop.example", "*.shop.example", "127.0.0.1", "::1"}, .until_ms = until_ms},
                          &issuer, kNow_ms)
      .value();
}

std::string refusal(const Result<void>& verified) { return verified ? "" : verified.error().message; }

TEST(X509, AMadeCertificateIsReadBack) {
  const MadeCertificate root = ca();
  auto facts = read_certificates(leaf(root).chain_pem);
  ASSERT_TRUE(facts) << facts.error().message;
  ASSERT_EQ(facts->size(), 2U);
  EXPECT_EQ((*facts)[0].subject, "CN=shop.example");
  EXPECT_EQ((*facts)[0].issuer, "CN=the root");
  EXPECT_EQ((*facts)[0].names, (std::vector<std::string>{"shop.example", "*.shop.example", "127.0.0.1", "::1"}));
  EXPECT_EQ((*facts)[0].until_ms, kNow_ms + kYear_ms);
  EXPECT_FALSE((*facts)[0].is_ca);
  EXPECT_TRUE((*facts)[1].is_ca);
  EXPECT_EQ((*facts)[1].fingerprint, read_certificates(root.chain_pem)->front().fingerprint);
}

TEST(X509, AChainHoldsForItsNamesWhileItLasts) {
  const MadeCertificate root = ca();
  const MadeCertificate one = leaf(root);
  for (const char* host : {"shop.example", "www.shop.example", "127.0.0.1", "::1"}) {
    EXPECT_EQ(refusal(verify_chain(one.chain_pem, root.chain_pem, host, kNow_ms)), "") << host;
  }
  EXPECT_EQ(refusal(verify_chain(one.chain_pem, root.chain_pem, "other.example", kNow_ms)),
            "the certificate is not to be believed for other.example: hostname mismatch");
  EXPECT_EQ(refusal(verify_chain(one.chain_pem, root.chain_pem, "127.0.0.2", kNow_ms)),
            "the certificate is not to be believed for 127.0.0.2: IP address mismatch");
  EXPECT_EQ(refusal(verify_chain(one.chain_pem, root.chain_pem, "shop.example", kNow_ms + 2 * kYear_ms)),
            "the certificate is not to be believed for shop.example: certificate has expired");
  EXPECT_NE(refusal(verify_chain(one.chain_pem, ca("another").chain_pem, "shop.example", kNow_ms)), "");
}

TEST(X509, WhoAsksWithARequestKeepsTheKey) {
  const MadeCertificate root = ca();
  const SigningRequest request = make_signing_request({"ignored.example"}, "").value();
  const CertificateOrder order{
      .name = "router edge", .until_ms = kNow_ms + kYear_ms, .uri = "spiffe://sluice/router/edge"};
  auto chain = certify_request(request.der, order, root, kNow_ms);
  ASSERT_TRUE(chain) << chain.error().message;
  EXPECT_EQ(refusal(verify_chain(*chain, root.chain_pem, "", kNow_ms)), "");
  const CertificateFacts facts = read_certificates(*chain)->front();
  EXPECT_EQ(facts.uris, (std::vector<std::string>{"spiffe://sluice/router/edge"}));
  EXPECT_TRUE(facts.names.empty());
  EXPECT_EQ(key_in_request(request.der).value(), key_in_certificate(*chain).value());
  EXPECT_NE(key_in_certificate(*chain).value(), key_in_certificate(root.chain_pem).value());
  // The next one for the same key is another certificate.
  auto next = certify_request(request.der, order, root, kNow_ms + 1);
  EXPECT_NE(read_certificates(*next)->front().fingerprint, facts.fingerprint);
}

TEST(X509, ARequestThatItsKeyDidNotSignGetsNothing) {
  SigningRequest request = make_signing_request({"edge.example"}, "").value();
  EXPECT_EQ(key_in_request("no request").error().message, "the signing request cannot be read");
  request.der.back() = static_cast<char>(request.der.back() ^ 1);
  auto refused = certify_request(request.der, {.name = "x", .until_ms = kNow_ms + kYear_ms}, ca(), kNow_ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::verification_failed);
  EXPECT_EQ(refused.error().message, "the signing request is not signed with its own key");
}

TEST(X509, AnIntermediateMaySignAndALeafMayNot) {
  const MadeCertificate root = ca();
  const MadeCertificate middle =
      make_certificate({.name = "the middle", .is_ca = true, .until_ms = kNow_ms + kYear_ms}, &root, kNow_ms).value();
  const MadeCertificate one = leaf(middle);
  EXPECT_EQ(refusal(verify_chain(one.chain_pem, root.chain_pem, "shop.example", kNow_ms)), "");
  auto refused = make_certificate({.name = "x", .until_ms = kNow_ms + kYear_ms}, &one, kNow_ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the issuer may not sign certificates");
}

TEST(X509, ASigningIdentityIsAUriWithAnEd25519Key) {
  const int64_t now = 1'790'000'000'000;
  auto ca = make_certificate({.name = "acme", .is_ca = true, .until_ms = now + 100'000, .ed25519 = true}, nullptr, now);
  ASSERT_TRUE(ca);
  auto signer = make_certificate({.name = "primary",
                                  .until_ms = now + 50'000,
                                  .uri = "spiffe://acme/management-plane/primary",
                                  .ed25519 = true,
                                  .signs_only = true},
                                 &*ca, now);
  ASSERT_TRUE(signer);
  const CertificateFacts facts = read_certificates(signer->chain_pem)->front();
  EXPECT_EQ(facts.uris, std::vector<std::string>{"spiffe://acme/management-plane/primary"});
  EXPECT_EQ(facts.ed25519.size(), 32U);
  EXPECT_TRUE(verify_chain(signer->chain_pem, ca->chain_pem, "", now));
  EXPECT_FALSE(verify_chain(signer->chain_pem, ca->chain_pem, "", now + 60'000));
  EXPECT_FALSE(verify_chain(signer->chain_pem, ca->chain_pem, "acme.example", now));
  EXPECT_FALSE(make_certificate({.until_ms = now + 1, .uri = "spiffe://a,DNS:b"}, nullptr, now));
}

TEST(X509, WhatIsNoCertificateIsRefused) {
  EXPECT_EQ(read_certificates("").error().message, "there is no certificate in it");
  EXPECT_EQ(read_certificates("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").error().code,
            Code::invalid);
  EXPECT_EQ(read_certificates(std::string(kMaxChainBytes + 1, 'a')).error().message,
            "the certificates have more than 1 MB");
  const MadeCertificate root = ca();
  EXPECT_EQ(read_certificates(root.chain_pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
                .error()
                .message,
            "certificate 2 cannot be read");
  EXPECT_FALSE(make_certificate({.names = {"a,DNS:evil.example"}, .until_ms = kNow_ms}, &root, kNow_ms));
}

TEST(X509, AConstrainedAuthorityIsBelievedForItsDomainsAlone) {
  const MadeCertificate root =
      make_certificate(
          {.name = "local", .is_ca = true, .until_ms = kNow_ms + kYear_ms, .constrained_to = {"localhost", "example"}},
          nullptr, kNow_ms)
          .value();
  auto believed = [&](const std::string& name) {
    auto made = make_certificate({.names = {name}, .until_ms = kNow_ms + kYear_ms}, &root, kNow_ms);
    return refusal(verify_chain(made->chain_pem, root.chain_pem, name, kNow_ms)).empty();
  };
  for (const char* name : {"localhost", "shop.localhost", "a.shop.example", "127.0.0.1", "127.9.9.9", "::1"}) {
    EXPECT_TRUE(believed(name)) << name;
  }
  for (const char* name : {"shop.com", "notexample", "example.com", "10.0.0.1", "::2"}) {
    EXPECT_FALSE(believed(name)) << name;
  }
  EXPECT_FALSE(make_certificate({.name = "x", .is_ca = true, .constrained_to = {"a,b"}}, nullptr, kNow_ms));
}

}  // namespace x509_test
}  // namespace sluice::crypto
