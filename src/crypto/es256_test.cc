// What is signed here is believed by the other side of this folder, which reads tokens.
#include "crypto/es256.h"

#include <gtest/gtest.h>

#include "crypto/base64.h"
#include "crypto/jwt.h"

namespace sluice::crypto {
namespace es256_test {

TEST(Es256, SignsWhatOthersVerify) {
  const Es256Key key = Es256Key::generate();
  std::string jwk = key.jwk();
  jwk.insert(1, R"("kid":"k1","alg":"ES256",)");
  auto keys = read_jwks(R"({"keys":[)" + jwk + "]}");
  ASSERT_TRUE(keys) << keys.error().message;
  for (int i = 0; i < 50; ++i) {  // numbers that begin with zeros, too
    const std::string text =
        to_base64(R"({"alg":"ES256","kid":"k1"})", Base64::url_unpadded) + "." +
        to_base64(R"({"iss":"i","aud":"a","sub":"s","exp":2000000000,"n":)" + std::to_string(i) + "}",
                  Base64::url_unpadded);
    auto claims = verify_jwt(text + "." + to_base64(key.sign(text), Base64::url_unpadded), *keys,
                             {.issuer = "i", .audience = "a", .now_ms = 1'900'000'000'000});
    ASSERT_TRUE(claims) << claims.error().message;
  }
}

TEST(Es256, IsReadBackAndNothingElseIs) {
  const Es256Key key = Es256Key::generate();
  auto back = Es256Key::from_pem(key.to_pem().reveal());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->jwk(), key.jwk());
  EXPECT_EQ(back->thumbprint().size(), 43U);
  EXPECT_FALSE(Es256Key::from_pem("nothing"));
}

}  // namespace es256_test
}  // namespace sluice::crypto
