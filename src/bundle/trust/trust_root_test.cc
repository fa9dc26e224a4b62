// The trust root's form: what it reads, what it refuses, and that equal roots are equal bytes.
#include "bundle/trust/trust_root.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sluice::bundle {
namespace trust_root_test {

// Keys that are the same on every run.
crypto::PublicKey key_of(uint8_t n) {
  std::array<uint8_t, crypto::PrivateKey::kSeedBytes> seed{};
  seed.fill(n);
  return crypto::PrivateKey::from_seed(seed).public_key();
}

TrustRoot whole() {
  return {.keys = {{.key = key_of(1), .label = "ann", .environments = {"*"}, .bundles = {"shop-*", "till"}},
                   {.key = key_of(2),
                    .label = "release",
                    .environments = {"prod"},
                    .bundles = {"*"},
                    .not_before_ms = 0,
                    .expires_ms = 1'900'000'000'000,
                    .group = "release",
                    .revocation = Revocation{.at_ms = 1'800'000'000'000, .reason = "lost with a laptop"}}},
          .groups = {{.name = "release", .threshold = 2}}};
}

std::string text_with(std::string_view old_part, std::string_view new_part) {
  std::string text = write_trust_root(whole()).value();
  size_t at = text.find(old_part);
  if (at == std::string::npos) return "there is no " + std::string(old_part);
  return text.replace(at, old_part.size(), new_part);
}

// Without the place in the text, which depends on the keys.
std::string refusal(const std::string& text) {
  auto root = parse_trust_root(text);
  if (root) return "accepted";
  Error error = root.error();
  error.position.reset();
  return to_string(error);
}

TEST(TrustRoot, ReadsWhatItWrites) {
  std::string text = write_trust_root(whole()).value();
  TrustRoot again = parse_trust_root(text).value();
  ASSERT_EQ(again.keys.size(), 2U);
  EXPECT_EQ(again.groups, whole().groups);
  for (const TrustedKey& key : whole().keys) EXPECT_EQ(*again.find(key.key.key_id()), key);
  EXPECT_EQ(write_trust_root(again).value(), text);
}

TEST(TrustRoot, IsTheSameBytesInWhateverOrder) {
  TrustRoot turned = whole();
  std::swap(turned.keys[0], turned.keys[1]);
  turned.groups.insert(turned.groups.begin(), {"zebra", 1});
  TrustRoot straight = whole();
  straight.groups.push_back({"zebra", 1});
  EXPECT_EQ(write_trust_root(turned).value(), write_trust_root(straight).value());
}

TEST(TrustRoot, OfNobodyIsShort) {
  EXPECT_EQ(write_trust_root({}).value(), R"({"groups":[],"keys":[],"schema":"sluice.trust-root.v1"})");
  EXPECT_TRUE(parse_trust_root(R"({"schema":"sluice.trust-root.v1","keys":[]})"));
}

TEST(TrustRoot, RefusesWhatDoesNotHoldTogether) {
  std::string first = key_of(1).key_id() < key_of(2).key_id() ? "0" : "1", second = first == "0" ? "1" : "0";
  EXPECT_EQ(refusal(text_with("trust-root.v1", "trust-root.v2")),
            "/schema: expected sluice.trust-root.v1, found sluice.trust-root.v2");
  std::string other(32, '0');
  EXPECT_EQ(
      refusal(text_with(R"("key_id":")" + key_of(1).key_id(), R"("key_id":")" + other)),
      "/keys/" + first + "/key_id: expected " + key_of(1).key_id() + ", the id of this public key, found " + other);
  EXPECT_EQ(refusal(text_with("BEGIN PUBLIC", "BEGIN")).substr(0, 23), "/keys/0/public_key_pem:");
  EXPECT_EQ(refusal(text_with(R"("group":"release")", R"("group":"nobody")")),
            "/keys/" + second + "/group: there is no group nobody");
  EXPECT_EQ(refusal(text_with(R"(["shop-*","till"])", "[]")),
            "/keys/" + first + "/bundles: expected at least one pattern");
  EXPECT_EQ(refusal(text_with(R"("till")", R"("t ill")")),
            "/keys/" + first + "/bundles/1: expected a pattern of 1 to 128 visible ASCII characters");
  EXPECT_EQ(refusal(text_with("2030-03-17T17:46:40.000Z", "1969-01-01T00:00:00.000Z")),
            "/keys/" + second + "/expires: the key would expire before it is valid");
  EXPECT_EQ(refusal(text_with("2030-03-17T17:46:40.000Z", "never")),
            "/keys/" + second + R"(/expires: expected a UTC time such as "2030-01-31T12:00:00.000Z", found "never")");
  EXPECT_EQ(refusal(text_with("lost with", "lost\\nwith")),
            "/keys/" + second + "/revoked/reason: expected one line of UTF-8 without control characters");
  EXPECT_EQ(refusal(text_with(R"("threshold":2)", R"("threshold":0)")),
            "/groups/0/threshold: expected 1 to 16 keys, found 0");
  EXPECT_EQ(refusal(text_with(R"("threshold":2)", R"("threshold":17)")),
            "/groups/0/threshold: expected 1 to 16 keys, found 17");
  EXPECT_EQ(refusal(text_with(R"("name":"release")", R"("name":"Release")")),
            "/groups/0/name: expected a name of a-z, 0-9 and -");
  EXPECT_EQ(refusal(text_with(R"("groups":[)", R"("groups":[{"name":"release","threshold":1},)")),
            "/groups/1/name: there is a group release already");
  EXPECT_EQ(refusal(text_with(R"("schema")", R"("scheme":1,"schema")")),
            R"(/scheme: unknown field, did you mean "schema"?)");
}

TEST(TrustRoot, RefusesAKeyTwice) {
  TrustRoot twice = whole();
  twice.keys.push_back(twice.keys[0]);
  std::string text = write_trust_root(twice).value();
  EXPECT_TRUE(refusal(text).ends_with("/key_id: an earlier key is the same")) << refusal(text);
}

TEST(TrustRoot, IsBounded) {
  EXPECT_EQ(parse_trust_root(std::string(100'000, '[')).error().code, Code::limit);
  EXPECT_EQ(parse_trust_root(std::string(kMaxTrustRootBytes + 1, ' ')).error().code, Code::limit);
  TrustedKey key = whole().keys[0];
  key.environments.assign(65, "*");
  EXPECT_EQ(to_string(check(key).error()), "/environments: at most 64 patterns are allowed, found 65");
  key = whole().keys[0];
  key.label.assign(513, 'x');
  EXPECT_EQ(to_string(check(key).error()), "/label: expected at most 512 bytes");
}

TEST(Patterns, StarIsAnyAndQuestionMarkIsOne) {
  for (auto [pattern, name] : {std::pair{"*", ""},
                               {"*", "shop"},
                               {"shop", "shop"},
                               {"sh?p", "shop"},
                               {"s*p", "sp"},
                               {"s*p", "shop"},
                               {"*a*b*", "xxaxxabx"},
                               {"shop-*", "shop-"},
                               {"**", "x"}}) {
    EXPECT_TRUE(fits(pattern, name)) << pattern << " " << name;
  }
  for (auto [pattern, name] : {std::pair{"", "x"},
                               {"shop", "shops"},
                               {"shops", "shop"},
                               {"sh?p", "shp"},
                               {"s*p", "shops"},
                               {"shop-*", "shop"},
                               {"?", ""},
                               {"*a*b*c", "xxaxxab"}}) {
    EXPECT_FALSE(fits(pattern, name)) << pattern << " " << name;
  }
}

TEST(Patterns, ManyStarsCostLittle) {
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a";
  EXPECT_FALSE(fits(pattern + "b", std::string(100'000, 'a')));
}

}  // namespace trust_root_test
}  // namespace sluice::bundle
