// The published AES-256-GCM vectors (cases 13 to 16 of the GCM specification, which NIST took over), and tampering
// with every byte of every part.
#include "crypto/aead.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "crypto/hex.h"

namespace sluice::crypto {
namespace aead_test {

struct Example {
  std::string key;
  std::string nonce;
  std::string secret;
  std::string associated;
  std::string sealed;  // ciphertext and tag
};

const std::string kKey = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
const std::string kSecret =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
    "b16aedf5aa0de657ba637b391aafd255";
const std::string kCiphertext =
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
    "c5f61e6393ba7a0abcc9f662898015ad";

std::vector<Example> examples() {
  const std::string zeros(64, '0');
  return {{zeros, zeros.substr(40), "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
          {zeros, zeros.substr(40), zeros.substr(32), "",
           "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"},
          {kKey, "cafebabefacedbaddecaf888", kSecret, "", kCiphertext + "b094dac5d93471bdec1a502270e3cc6c"},
          {kKey, "cafebabefacedbaddecaf888", kSecret.substr(0, 120), "feedfacedeadbeeffeedfacedeadbeefabaddad2",
           kCiphertext.substr(0, 120) + "76fc6ece0f4e1768cddf8853bb2d551b"}};
}

Aead with_hex_key(const std::string& key) {
  return Aead::with_key(SecretBuffer::copy_of(from_hex(key).value())).value();
}

// Gives one nonce, once.
class GivenRandom final : public Random {
 public:
  explicit GivenRandom(std::string bytes) : bytes_(std::move(bytes)) {}
  void fill(std::span<uint8_t> out) override {
    ASSERT_EQ(out.size(), bytes_.size());
    std::copy(bytes_.begin(), bytes_.end(), out.begin());
    bytes_.clear();
  }

 private:
  std::string bytes_;
};

const std::string kRefused =
    "the sealed text does not open: it was changed, or sealed with another key or for another name";

TEST(Aead, GivesThePublishedCiphertexts) {
  for (const Example& example : examples()) {
    Aead aead = with_hex_key(example.key);
    GivenRandom nonce(from_hex(example.nonce).value());
    auto sealed = aead.seal(from_hex(example.secret).value(), from_hex(example.associated).value(), nonce);
    EXPECT_EQ(to_hex(sealed.value()), example.nonce + example.sealed);
    EXPECT_EQ(to_hex(aead.open(*sealed, from_hex(example.associated).value()).value().reveal()), example.secret);
  }
}

TEST(Aead, EachSealHasItsOwnNonce) {
  RealRandom random;
  Aead aead = Aead::with_new_key(random);
  auto first = aead.seal("secret", "name", random).value();
  auto second = aead.seal("secret", "name", random).value();
  EXPECT_NE(first.substr(0, 12), second.substr(0, 12));
  EXPECT_EQ(aead.open(first, "name").value().reveal(), "secret");
  EXPECT_EQ(aead.open(second, "name").value().reveal(), "secret");
}

TEST(Aead, RefusesAChangedByteWhereverItIs) {
  RealRandom random;
  Aead aead = Aead::with_new_key(random);
  const std::string sealed = aead.seal("a secret", "name", random).value();
  ASSERT_EQ(sealed.size(), 12 + 8 + 16U);
  for (size_t i = 0; i < sealed.size(); ++i) {
    for (int bit : {1, 128}) {
      std::string changed = sealed;
      changed[i] = static_cast<char>(changed[i] ^ bit);
      auto opened = aead.open(changed, "name");
      ASSERT_FALSE(opened) << i;
      EXPECT_EQ(opened.error().message, kRefused);
      EXPECT_EQ(opened.error().code, Code::verification_failed);
    }
  }
}

TEST(Aead, RefusesShorterLongerAndRearrangedTexts) {
  RealRandom random;
  Aead aead = Aead::with_new_key(random);
  const std::string sealed = aead.seal("a secret", "name", random).value();
  for (size_t size = 0; size < sealed.size(); ++size) EXPECT_FALSE(aead.open(sealed.substr(0, size), "name")) << size;
  EXPECT_FALSE(aead.open(sealed + '\0', "name"));
  EXPECT_FALSE(aead.open('\0' + sealed, "name"));
  EXPECT_FALSE(aead.open(sealed.substr(12) + sealed.substr(0, 12), "name"));
}

TEST(Aead, RefusesOtherAssociatedDataAndAnotherKey) {
  RealRandom random;
  Aead aead = Aead::with_new_key(random);
  const std::string sealed = aead.seal("a secret", "name", random).value();
  for (std::string_view associated : {"", "Name", "nam", "names"}) {
    EXPECT_EQ(aead.open(sealed, associated).error().message, kRefused) << associated;
  }
  EXPECT_EQ(Aead::with_new_key(random).open(sealed, "name").error().message, kRefused);
}

TEST(Aead, RefusesKeysOfAnotherLength) {
  EXPECT_EQ(Aead::with_key(SecretBuffer(16)).error().message, "an AES-256 key is 32 bytes long, this one is 16");
  EXPECT_EQ(Aead::with_key(SecretBuffer()).error().message, "an AES-256 key is 32 bytes long, this one is 0");
  EXPECT_EQ(Aead::with_key(SecretBuffer(33)).error().code, Code::invalid);
}

TEST(Aead, RefusesToSealMoreThanItsLimits) {
  RealRandom random;
  Aead aead = Aead::with_new_key(random);
  auto sealed = aead.seal(std::string(Aead::kMaxSecretBytes + 1, 'x'), "", random);
  EXPECT_EQ(sealed.error().message, "the secret is 67108865 bytes long; at most 67108864 can be sealed");
  EXPECT_EQ(sealed.error().code, Code::limit);
  EXPECT_EQ(aead.seal("x", std::string(Aead::kMaxAssociatedBytes + 1, 'x'), random).error().message,
            "the associated data is 1048577 bytes long; at most 1048576 can be sealed");
}

}  // namespace aead_test
}  // namespace sluice::crypto
