// What a browser is sent with, and what a provider says of itself.
#include "host/openid.h"

#include <gtest/gtest.h>

#include "crypto/base64.h"
#include "crypto/sha256.h"
#include "host/testing_issuer.h"

namespace sluice::host {
namespace openid_test {

TEST(OpenId, TheChallengeIsOfTheVerifierAndEachLoginHasItsOwn) {
  RealRandom random;
  const Pkce one = new_pkce(random), other = new_pkce(random);
  EXPECT_NE(one.verifier, other.verifier);
  EXPECT_EQ(one.verifier.size(), 43U);
  const crypto::Sha256 digest = crypto::sha256(one.verifier);
  EXPECT_EQ(one.challenge, crypto::to_base64({reinterpret_cast<const char*>(digest.data()), digest.size()},
                                             crypto::Base64::url_unpadded));
}

TEST(OpenId, ABrowserIsSentWithEverythingEncoded) {
  EXPECT_EQ(
      login_url({.authorization_endpoint = "https://people.example/auth"}, {.client = "sluice",
                                                                            .redirect = "http://127.0.0.1:7/callback",
                                                                            .state = "s",
                                                                            .nonce = "n",
                                                                            .challenge = "c",
                                                                            .scopes = {"openid", "email"}}),
      "https://people.example/auth?response_type=code&client_id=sluice"
      "&redirect_uri=http%3A%2F%2F127.0.0.1%3A7%2Fcallback&scope=openid%20email&state=s&nonce=n"
      "&code_challenge=c&code_challenge_method=S256");
}

TEST(OpenId, AProviderMustSayWhereAndBeWhoItIs) {
  RealClock clock;
  IssuerServer issuer;
  EXPECT_EQ(discover_provider(issuer.url, clock).error().message, issuer.url + " does not say where people log in");
  issuer.says_issuer = "https://other.example";
  EXPECT_EQ(discover_provider(issuer.url, clock).error().message, issuer.url + " says that it is another issuer");
  EXPECT_EQ(discover_provider("http://people.example", clock).error().code, Code::invalid);
}

TEST(OpenId, ClaimsAreReadWithoutTrustingThem) {
  EXPECT_EQ(unverified_claim("e30.eyJleHAiOjcsIm5vbmNlIjoibiJ9.x", "nonce"), "n");
  EXPECT_EQ(unverified_claim("e30.eyJleHAiOjcsIm5vbmNlIjoibiJ9.x", "exp"), "7");
  EXPECT_EQ(unverified_claim("nonsense", "exp"), "");
}

}  // namespace openid_test
}  // namespace sluice::host
