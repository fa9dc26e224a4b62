// Who may ask: the node whose certificate and key these are, about this request, now.
#include "mesh/proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crypto/base64.h"
#include "crypto/x509.h"

namespace sluice::mesh {
namespace proof_test {

using testing::HasSubstr;

constexpr int64_t kNow = 1'790'000'000'000;
constexpr int64_t kDay = 24LL * 3600 * 1000;

struct MeshProof : testing::Test {
  crypto::MadeCertificate ca = made("CA", "", nullptr);
  crypto::MadeCertificate node = made("web", "spiffe://acme/node/web", &ca);
  Asked asked{.trust_domain = "acme", .method = "GET", .target = "/artifact/mgmt/web?have=1"};

  static crypto::MadeCertificate made(const std::string& name, const std::string& uri,
                                      const crypto::MadeCertificate* issuer) {
    return crypto::make_certificate(
               {.name = name, .is_ca = issuer == nullptr, .until_ms = kNow + kDay, .uri = uri, .ed25519 = true}, issuer,
               kNow)
        .value();
  }
  static std::string proof_of(const Asked& asked, const crypto::MadeCertificate& whose, int64_t now_ms = kNow) {
    return prove(asked, crypto::PrivateKey::from_pem(whose.key_pem.reveal()).value(), now_ms);
  }
  Result<std::string> check(const crypto::MadeCertificate& whose, const std::string& proof, int64_t now_ms = kNow) {
    return proved(asked, crypto::to_base64(whose.chain_pem), proof, ca.chain_pem, now_ms);
  }
};

TEST_F(MeshProof, SaysWhoAsks) {
  auto who = check(node, proof_of(asked, node));
  ASSERT_TRUE(who) << who.error().message;
  EXPECT_EQ(*who, "spiffe://acme/node/web");
  EXPECT_TRUE(check(node, proof_of(asked, node), kNow + kProofValid_ms));
}

TEST_F(MeshProof, HoldsForThisRequestAlone) {
  const std::string proof = proof_of(asked, node);
  EXPECT_THAT(check(node, proof, kNow + kProofValid_ms + 1).error().message, HasSubstr("too old"));
  for (const auto& change : {&Asked::trust_domain, &Asked::method, &Asked::target, &Asked::body}) {
    Asked other = asked;
    other.*change += "x";
    EXPECT_FALSE(proved(other, crypto::to_base64(node.chain_pem), proof, ca.chain_pem, kNow));
  }
  EXPECT_EQ(check(node, "").error().code, Code::unauthenticated);
  EXPECT_FALSE(check(node, "17 nonsense"));
  EXPECT_FALSE(check(node, proof.substr(1)));
}

TEST_F(MeshProof, RefusesForeignAndExpiredCertificates) {
  const auto foreign_ca = made("CA", "", nullptr);
  const auto foreign = made("web", "spiffe://acme/node/web", &foreign_ca);
  EXPECT_THAT(check(foreign, proof_of(asked, foreign)).error().message, HasSubstr("does not hold"));
  const auto other_mesh = made("web", "spiffe://other/node/web", &ca);
  EXPECT_THAT(check(other_mesh, proof_of(asked, other_mesh)).error().message, HasSubstr("no principal of acme"));
  EXPECT_THAT(check(node, proof_of(asked, node, kNow + 2 * kDay), kNow + 2 * kDay).error().message,
              HasSubstr("does not hold"));
  EXPECT_THAT(check(node, proof_of(asked, foreign)).error().message, HasSubstr("the proof does not hold"));
}

}  // namespace proof_test
}  // namespace sluice::mesh
