// Chains with their keys: which go together, and which hosts they are of.
#include "crypto/identity.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace sluice::crypto {
namespace identity_test {

const int64_t kNow_ms = RealClock().wall_ms();

MadeCertificate made(std::vector<std::string> names) {
  return *make_certificate({.name = "test", .names = std::move(names), .until_ms = kNow_ms + 86'400'000}, nullptr,
                           kNow_ms);
}

TEST(Identity, ReadsAChainWithItsKey) {
  const MadeCertificate one = made({"shop.example", "*.shop.example", "127.0.0.1"});
  auto identity = Identity::read(one.chain_pem, one.key_pem.reveal());
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_FALSE((*identity)->is_rsa());
  EXPECT_EQ((*identity)->facts().names.size(), 3U);
  EXPECT_NE((*identity)->leaf(), nullptr);
  EXPECT_NE((*identity)->key(), nullptr);
}

TEST(Identity, CoversItsNamesAndOneLabelOfItsWildcards) {
  const MadeCertificate one = made({"Shop.Example", "*.shop.example", "127.0.0.1"});
  auto identity = *Identity::read(one.chain_pem, one.key_pem.reveal());
  for (const char* host : {"shop.example", "www.shop.example", "127.0.0.1"})
    EXPECT_TRUE(identity->covers(host)) << host;
  for (const char* host : {"other.example", "a.b.shop.example", ".shop.example", "example", "127.0.0.2", ""}) {
    EXPECT_FALSE(identity->covers(host)) << host;
  }
}

TEST(Identity, RefusesAKeyOfAnotherCertificate) {
  const MadeCertificate one = made({"a.example"}), other = made({"a.example"});
  auto mixed = Identity::read(one.chain_pem, other.key_pem.reveal());
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().message, "the private key is not that of the certificate");
}

TEST(Identity, ReadsKeysOfEveryKind) {
  const MadeCertificate ec = made({"a.example"});
  const MadeCertificate ed25519 = *make_certificate(
      {.name = "test", .names = {"a.example"}, .until_ms = kNow_ms + 86'400'000, .ed25519 = true}, nullptr, kNow_ms);
  EXPECT_TRUE(Identity::read(ed25519.chain_pem, ed25519.key_pem.reveal()));
  for (auto [chain, key] : {std::pair(&ec, &ed25519), std::pair(&ed25519, &ec)}) {
    auto mixed = Identity::read(chain->chain_pem, key->key_pem.reveal());
    ASSERT_FALSE(mixed);
    EXPECT_EQ(mixed.error().message, "the private key is not that of the certificate");
  }
}

TEST(Identity, RefusesWhatIsNone) {
  const MadeCertificate one = made({"a.example"}), nameless = made({});
  EXPECT_EQ(Identity::read(one.chain_pem, "nothing").error().message, "the private key cannot be read");
  EXPECT_EQ(Identity::read("nothing", one.key_pem.reveal()).error().message, "there is no certificate in it");
  EXPECT_EQ(Identity::read(nameless.chain_pem, nameless.key_pem.reveal()).error().message,
            "the certificate names no host and no address");
}

}  // namespace identity_test
}  // namespace sluice::crypto
