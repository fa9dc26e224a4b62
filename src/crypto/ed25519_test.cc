// The RFC 8032 and RFC 8410 vectors, strict verification, and the errors for every wrong kind of key.
#include "crypto/ed25519.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <algorithm>

#include "crypto/base64.h"
#include "crypto/evp.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::crypto {
namespace ed25519_test {

static_assert(!std::is_copy_constructible_v<PrivateKey> && !std::is_copy_assignable_v<PrivateKey>);

struct Example {
  std::string seed;
  std::string public_key;
  std::string message;
  std::string signature;
};

const std::vector<Example>& rfc_8032_examples() {
  static const std::vector<Example> examples = {
      {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
       "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
       "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe2"
       "465"
       "5141438e7a100b"},
      {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
       "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
       "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302ae"
       "eb0"
       "0d291612bb0c00"},
      {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
       "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
       "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28"
       "dc0"
       "27beceea1ec40a"},
      {"833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
       "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
       "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80"
       "e2a"
       "9ac94fa54ca49f",
       "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17"
       "ad9"
       "bef1177331a704"}};
  return examples;
}

PrivateKey from_hex_seed(const std::string& seed) {
  std::string bytes = from_hex(seed).value();
  return PrivateKey::from_seed(std::span<const uint8_t, 32>(reinterpret_cast<const uint8_t*>(bytes.data()), 32));
}

std::string pem(std::string_view label, std::string_view der) {
  std::string frame(label);
  return "-----BEGIN " + frame + "-----\n" + to_base64(der) + "\n-----END " + frame + "-----\n";
}

std::string drained(const BioPtr& bio) {
  char* bytes = nullptr;
  long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

// A fresh key of another kind, as PEM.
std::string foreign_private(const char* kind, const char* passphrase = nullptr) {
  KeyPtr key(std::string_view(kind) == "EC"    ? EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")
             : std::string_view(kind) == "RSA" ? EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", size_t{1024})
                                               : EVP_PKEY_Q_keygen(nullptr, nullptr, kind));
  BioPtr bio(BIO_new(BIO_s_mem()));
  EXPECT_EQ(PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), passphrase ? EVP_aes_256_cbc() : nullptr, passphrase,
                                          passphrase ? 5 : 0, nullptr, nullptr),
            1);
  return drained(bio);
}

std::string foreign_public(const char* kind) {
  KeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, kind));
  BioPtr bio(BIO_new(BIO_s_mem()));
  EXPECT_EQ(PEM_write_bio_PUBKEY(bio.get(), key.get()), 1);
  return drained(bio);
}

const std::string kMakePrivate = "make a key with: openssl genpkey -algorithm ed25519 -out KEY";
const std::string kMakePublic = "get the public key with: openssl pkey -in KEY -pubout -out PUBLIC-KEY";

TEST(Ed25519, GivesThePublishedKeysAndSignatures) {
  for (const Example& example : rfc_8032_examples()) {
    PrivateKey key = from_hex_seed(example.seed);
    EXPECT_EQ(to_hex(key.public_key().raw()), example.public_key);
    std::string message = from_hex(example.message).value();
    EXPECT_EQ(to_hex(key.sign(message)), example.signature);
    auto public_key = PublicKey::from_raw(from_hex(example.public_key).value());
    EXPECT_TRUE(public_key.value().verify(message, from_hex(example.signature).value()));
  }
}

TEST(Ed25519, RefusesOtherMessagesKeysAndEveryChangedBit) {
  PrivateKey key = from_hex_seed(rfc_8032_examples()[1].seed);
  const Signature signature = key.sign("message");
  EXPECT_TRUE(key.public_key().verify("message", as_view(signature)));
  EXPECT_FALSE(key.public_key().verify("Message", as_view(signature)));
  EXPECT_FALSE(key.public_key().verify("", as_view(signature)));
  EXPECT_FALSE(PrivateKey::generate().public_key().verify("message", as_view(signature)));
  for (size_t bit = 0; bit < signature.size() * 8; ++bit) {
    Signature changed = signature;
    changed[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
    EXPECT_FALSE(key.public_key().verify("message", as_view(changed))) << bit;
  }
}

TEST(Ed25519, RefusesSignaturesOfAnotherLength) {
  PrivateKey key = PrivateKey::generate();
  const Signature signature = key.sign("message");
  EXPECT_FALSE(key.public_key().verify("message", ""));
  EXPECT_FALSE(key.public_key().verify("message", as_view(signature).substr(0, 63)));
  EXPECT_FALSE(key.public_key().verify("message", std::string(as_view(signature)) + '\0'));
}

// Adding the group's order to S gives a second signature that the equation alone would accept.
TEST(Ed25519, RefusesASignatureThatIsNotReduced) {
  PrivateKey key = from_hex_seed(rfc_8032_examples()[0].seed);
  Signature signature = key.sign("message");
  const std::string order = from_hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010").value();
  int carry = 0;
  for (size_t i = 0; i < 32; ++i) {
    carry += signature[32 + i] + static_cast<uint8_t>(order[i]);
    signature[32 + i] = static_cast<uint8_t>(carry);
    carry >>= 8;
  }
  EXPECT_EQ(carry, 0);
  EXPECT_FALSE(key.public_key().verify("message", as_view(signature)));
}

TEST(Ed25519, GeneratesAnotherKeyEachTime) {
  PrivateKey first = PrivateKey::generate();
  PrivateKey second = PrivateKey::generate();
  EXPECT_NE(first.public_key(), second.public_key());
  EXPECT_TRUE(first.public_key().verify("m", as_view(first.sign("m"))));
}

TEST(Ed25519, AKeyIdIsHalfTheDigestOfTheRawKey) {
  PrivateKey key = from_hex_seed(rfc_8032_examples()[0].seed);
  EXPECT_EQ(key.public_key().key_id(), "21fe31dfa154a261626bf854046fd227");
  EXPECT_EQ("sha256:" + key.public_key().key_id(), to_string(sha256(key.public_key().raw())).substr(0, 39));
}

TEST(Ed25519, ReadsThePublishedPem) {
  auto key = PrivateKey::from_pem(
      "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
      "-----END PRIVATE KEY-----\n");
  const std::string public_pem =
      "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
      "-----END PUBLIC KEY-----\n";
  EXPECT_EQ(key.value().public_key().to_pem(), public_pem);
  EXPECT_EQ(PublicKey::from_pem(public_pem).value(), key->public_key());
}

TEST(Ed25519, KeysGoThroughPemAndBack) {
  for (const Example& example : rfc_8032_examples()) {
    PrivateKey key = from_hex_seed(example.seed);
    SecretBuffer text = key.to_pem();
    EXPECT_EQ(text.reveal().substr(0, 28), "-----BEGIN PRIVATE KEY-----\n");
    PrivateKey again = PrivateKey::from_pem(text.reveal()).value();
    EXPECT_EQ(to_hex(again.sign(from_hex(example.message).value())), example.signature);
    EXPECT_EQ(PublicKey::from_pem(key.public_key().to_pem()).value(), key.public_key());
  }
}

TEST(Ed25519, RefusesKeysForOtherAlgorithmsByName) {
  for (auto [kind, name] :
       {std::pair("RSA", "rsaEncryption"), {"EC", "id-ecPublicKey"}, {"X25519", "X25519"}, {"ED448", "ED448"}}) {
    auto key = PrivateKey::from_pem(foreign_private(kind));
    ASSERT_FALSE(key);
    EXPECT_EQ(key.error().message, std::string("expected a key for Ed25519, found one for ") + name);
    EXPECT_EQ(key.error().next, kMakePrivate);
    EXPECT_EQ(key.error().code, Code::invalid);
  }
  auto key = PublicKey::from_pem(foreign_public("X25519"));
  EXPECT_EQ(key.error().message, "expected a key for Ed25519, found one for X25519");
  EXPECT_EQ(key.error().next, kMakePublic);
}

TEST(Ed25519, RefusesEncryptedKeysAndSaysHowToDecryptThem) {
  auto key = PrivateKey::from_pem(foreign_private("ED25519", "hello"));
  EXPECT_EQ(key.error().message, "the key is encrypted with a passphrase, expected one that is not");
  EXPECT_EQ(key.error().next, "decrypt it with: openssl pkey -in KEY -out PLAIN-KEY");
}

TEST(Ed25519, RefusesTheOtherHalfOfAKeyAndOtherFrames) {
  PrivateKey key = PrivateKey::generate();
  auto as_private = PrivateKey::from_pem(key.public_key().to_pem());
  EXPECT_EQ(as_private.error().message,
            "expected an Ed25519 private key in PKCS#8 (\"-----BEGIN PRIVATE KEY-----\"), found \"-----BEGIN PUBLIC "
            "KEY-----\"");
  EXPECT_EQ(as_private.error().next, kMakePrivate);
  auto as_public = PublicKey::from_pem(key.to_pem().reveal());
  EXPECT_EQ(as_public.error().message,
            "expected an Ed25519 public key in SubjectPublicKeyInfo (\"-----BEGIN PUBLIC KEY-----\"), found "
            "\"-----BEGIN PRIVATE KEY-----\"");
  EXPECT_EQ(as_public.error().next, kMakePublic);
  EXPECT_FALSE(PublicKey::from_pem(pem("CERTIFICATE", "x")));
  EXPECT_FALSE(PrivateKey::from_pem(pem("OPENSSH PRIVATE KEY", "x")));
}

TEST(Ed25519, RefusesDamagedDerAndClaimsOfHugeLengths) {
  const std::string damaged_private = "the PEM does not hold a private key: its DER is damaged";
  const std::string damaged_public = "the PEM does not hold a public key: its DER is damaged";
  PrivateKey key = PrivateKey::generate();
  const std::string whole =
      from_hex("302e020100300506032b657004220420").value() + std::string(PrivateKey::kSeedBytes, 'k');
  ASSERT_TRUE(PrivateKey::from_pem(pem("PRIVATE KEY", whole)));
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(PrivateKey::from_pem(pem("PRIVATE KEY", whole.substr(0, size))).error().message, damaged_private);
  }
  const std::string claim = from_hex("30843fffffff").value();  // a sequence of a gigabyte
  for (const std::string& der : {whole + '\0', std::string("garbage"), claim, claim + whole}) {
    EXPECT_EQ(PrivateKey::from_pem(pem("PRIVATE KEY", der)).error().message, damaged_private);
    EXPECT_EQ(PublicKey::from_pem(pem("PUBLIC KEY", der)).error().message, damaged_public);
  }
}

TEST(Ed25519, RefusesKeysOfAnotherLength) {
  EXPECT_EQ(PrivateKey::from_pem(
                pem("PRIVATE KEY", from_hex("302d020100300506032b65700421041f").value() + std::string(31, 'k')))
                .error()
                .message,
            "the PEM holds an Ed25519 private key that is not 32 bytes long");
  EXPECT_EQ(PublicKey::from_raw(std::string(31, 'k')).error().message,
            "an Ed25519 public key is 32 bytes long, this one is 31");
  EXPECT_EQ(PublicKey::from_pem(pem("PUBLIC KEY", from_hex("302b300506032b6570032200").value() + std::string(33, 'k')))
                .error()
                .message,
            "an Ed25519 public key is 32 bytes long, this one is 33");
}

// Under the neutral element, S = 0 and R = the neutral element sign every message.
TEST(Ed25519, RefusesPublicKeysOfSmallOrder) {
  const std::string expected =
      "this is a point of small order, not an Ed25519 public key: signatures under it mean nothing";
  for (std::string_view hex : {"0100000000000000000000000000000000000000000000000000000000000000",
                               "0100000000000000000000000000000000000000000000000000000000000080",
                               "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
                               "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"}) {
    EXPECT_EQ(PublicKey::from_raw(from_hex(hex).value()).error().message, expected) << hex;
  }
}

}  // namespace ed25519_test
}  // namespace sluice::crypto
