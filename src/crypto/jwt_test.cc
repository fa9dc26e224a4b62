// Tokens of every algorithm that counts, and the lies that must not.
#include "crypto/jwt.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "crypto/hmac.h"
#include "crypto/testing_jwt.h"

namespace sluice::crypto {
namespace jwt_test {

namespace json = boost::json;

constexpr int64_t kNow_s = 1'800'000'000;
const JwtRules kRules{.issuer = "https://ci.example", .audience = "sluice", .now_ms = kNow_s * 1000};

json::object claims(json::object more = {}) {
  json::object all{
      {"iss", "https://ci.example"}, {"aud", "sluice"}, {"sub", "repo:shop"}, {"iat", kNow_s}, {"exp", kNow_s + 300}};
  for (auto& [name, value] : more) {
    if (value.is_null()) {
      all.erase(name);
    } else {
      all[name] = value;
    }
  }
  return all;
}

std::string refused(const std::string& token, const TestingIssuer& issuer, const JwtRules& rules = kRules) {
  auto keys = read_jwks(issuer.jwks());
  auto done = verify_jwt(token, keys.value(), rules);
  return done ? "taken" : done.error().message;
}

TEST(Jwt, EveryAlgorithmThatCountsIsVerified) {
  for (const char* alg : {"RS256", "PS256", "ES256", "EdDSA"}) {
    TestingIssuer issuer(alg), other(alg);
    auto keys = read_jwks(issuer.jwks());
    ASSERT_TRUE(keys);
    auto held = verify_jwt(issuer.sign(claims()), *keys, kRules);
    ASSERT_TRUE(held) << alg << ": " << to_string(held.error());
    EXPECT_EQ(held->at("sub"), "repo:shop");
    EXPECT_EQ(refused(other.sign(claims()), issuer), "the token does not hold: it is not signed by its issuer") << alg;
    std::string changed = issuer.sign(claims());
    changed[changed.find('.') + 5] ^= 1;
    EXPECT_NE(refused(changed, issuer), "taken") << alg;
  }
}

TEST(Jwt, ATokenCannotChooseHowItIsVerified) {
  TestingIssuer issuer("RS256");
  const std::string none = "the token does not hold: its algorithm does not count";
  for (const char* alg : {"none", "None", "HS256", "RS1", ""}) {
    EXPECT_EQ(refused(jwt_text({{"alg", alg}, {"kid", "k1"}}, claims(), ""), issuer), none) << alg;
  }
  // The public key as a shared secret.
  const json::object head{{"alg", "HS256"}, {"kid", "k1"}};
  const std::string text = jwt_text(head, claims(), "");
  const Mac mac = Hmac(issuer.public_pem()).mac(text.substr(0, text.size() - 1));
  EXPECT_EQ(refused(jwt_text(head, claims(), {reinterpret_cast<const char*>(mac.data()), mac.size()}), issuer), none);
  // A key of another kind, one for another algorithm, and one that is brought along.
  EXPECT_EQ(refused(issuer.sign(claims(), {{"alg", "ES256"}}), issuer),
            "the token does not hold: no key of the issuer is the one that it names");
  EXPECT_EQ(refused(issuer.sign(claims(), {{"alg", "PS256"}}), issuer),
            "the token does not hold: no key of the issuer is the one that it names");
  TestingIssuer stranger("RS256");
  EXPECT_EQ(refused(stranger.sign(claims(), {{"jwk", json::parse(stranger.jwks()).at("keys").at(0)}}), issuer),
            "the token does not hold: it is not signed by its issuer");
  EXPECT_EQ(refused(issuer.sign(claims(), {{"kid", "k2"}}), issuer),
            "the token does not hold: no key of the issuer is the one that it names");
  EXPECT_EQ(refused(issuer.sign(claims(), {{"crit", json::array{"b64"}}}), issuer),
            "the token does not hold: it demands what is not known here");
}

TEST(Jwt, ClaimsMustHold) {
  TestingIssuer issuer("ES256");
  auto why = [&](json::object more) {
    return refused(issuer.sign(claims(std::move(more))), issuer)
        .substr(std::string("the token does not hold: ").size());
  };
  EXPECT_EQ(why({{"iss", "https://evil.example"}}), "it is of another issuer");
  EXPECT_EQ(why({{"aud", "other"}}), "it is not for sluice");
  EXPECT_EQ(why({{"aud", nullptr}}), "it is not for sluice");
  EXPECT_EQ(why({{"exp", kNow_s - 61}}), "it has ended");
  EXPECT_EQ(why({{"exp", nullptr}}), "it does not say when it ends");
  EXPECT_EQ(why({{"exp", "soon"}}), "its exp is no time");
  EXPECT_EQ(why({{"nbf", kNow_s + 61}}), "it is from the future");
  EXPECT_EQ(why({{"iat", kNow_s + 61}}), "it is from the future");
  EXPECT_EQ(refused(issuer.sign(claims({{"aud", json::array{"other", "sluice"}}, {"exp", kNow_s - 30}})), issuer),
            "taken");
  JwtRules login = kRules;
  login.nonce = "n1";
  EXPECT_EQ(refused(issuer.sign(claims({{"nonce", "n2"}})), issuer, login),
            "the token does not hold: it was made for another login");
  EXPECT_EQ(refused(issuer.sign(claims({{"nonce", "n1"}})), issuer, login), "taken");
}

TEST(Jwt, WhatIsNoneIsRefused) {
  TestingIssuer issuer("EdDSA");
  for (const std::string& each :
       {std::string(), std::string("a.b"), std::string("a.b.c"), std::string("...."), std::string("e30.e30.e30="),
        std::string(20'000, 'a') + ".b.c", std::string("W10.W10.")}) {
    EXPECT_NE(refused(each, issuer), "taken") << each.substr(0, 40);
  }
  auto hints = jwt_hints(issuer.sign(claims()));
  ASSERT_TRUE(hints);
  EXPECT_EQ(hints->issuer, "https://ci.example");
  EXPECT_EQ(hints->key_id, "k1");
  EXPECT_FALSE(read_jwks("[]"));
  EXPECT_FALSE(read_jwks("{"));
  EXPECT_TRUE(read_jwks(R"({"keys":[{"kty":"oct","k":"AAAA"},{"kty":"RSA"},{"kty":"EC","crv":"P-521","x":"AA","y":"AA"},
                            {"kty":"RSA","use":"enc","n":"AQAB","e":"AQAB"},1]})")
                  ->empty());
}

}  // namespace jwt_test
}  // namespace sluice::crypto
