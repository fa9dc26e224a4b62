// The RFC 4231 vectors, one key for many messages, and what verify refuses.
#include "crypto/hmac.h"

#include <gtest/gtest.h>

#include "crypto/hex.h"

namespace sluice::crypto {
namespace hmac_test {

struct Example {
  std::string key;
  std::string message;
  std::string mac;
};

std::vector<Example> rfc_4231_examples() {
  std::string counting;
  for (int i = 1; i <= 25; ++i) counting += static_cast<char>(i);
  return {
      {std::string(20, '\x0b'), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {std::string(20, '\xaa'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {counting, std::string(50, '\xcd'), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
      {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {std::string(131, '\xaa'),
       "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be "
       "hashed before being used by the HMAC algorithm.",
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
  };
}

std::string_view view(const Mac& mac) { return {reinterpret_cast<const char*>(mac.data()), mac.size()}; }

TEST(Hmac, GivesThePublishedMacs) {
  for (const Example& example : rfc_4231_examples()) {
    EXPECT_EQ(to_hex(Hmac(example.key).mac(example.message)), example.mac);
  }
}

TEST(Hmac, OneKeyServesManyMessages) {
  for (const Example& example : rfc_4231_examples()) {
    Hmac hmac(example.key);
    Mac other = hmac.mac("another message");
    EXPECT_EQ(to_hex(hmac.mac(example.message)), example.mac);
    EXPECT_EQ(hmac.mac("another message"), other);
    EXPECT_EQ(to_hex(hmac.mac(example.message)), example.mac);
  }
}

TEST(Hmac, ClonesAndMovedObjectsKeepTheKey) {
  const Example example = rfc_4231_examples()[1];
  Hmac first(example.key);
  Hmac second = first.clone();
  Hmac third = std::move(first);
  EXPECT_EQ(to_hex(second.mac(example.message)), example.mac);
  EXPECT_EQ(to_hex(third.mac(example.message)), example.mac);
}

TEST(Hmac, VerifiesOnlyTheWholeMacOfTheMessageUnderTheKey) {
  Hmac hmac("Jefe");
  const Mac mac = hmac.mac("message");
  EXPECT_TRUE(hmac.verify("message", view(mac)));
  EXPECT_FALSE(hmac.verify("Message", view(mac)));
  EXPECT_FALSE(Hmac("jefe").verify("message", view(mac)));
  EXPECT_FALSE(hmac.verify("message", view(mac).substr(0, 31)));
  EXPECT_FALSE(hmac.verify("message", std::string(view(mac)) + '\0'));
  EXPECT_FALSE(hmac.verify("message", ""));
  for (size_t i = 0; i < mac.size(); ++i) {
    Mac changed = mac;
    changed[i] ^= 1;
    EXPECT_FALSE(hmac.verify("message", view(changed))) << i;
  }
}

}  // namespace hmac_test
}  // namespace sluice::crypto
