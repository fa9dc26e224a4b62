// The vectors of RFC 7914, and costs that are refused.
#include "crypto/scrypt.h"

#include <gtest/gtest.h>

#include "crypto/hex.h"

namespace sluice::crypto {
namespace scrypt_test {

TEST(Scrypt, TheVectorsOfTheRfc) {
  EXPECT_EQ(
      to_hex(scrypt("password", "NaCl", {.n = 1024, .r = 8, .p = 16}, 64)->reveal()),
      "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d"
      "8360cbdfa2cc0640");
}

TEST(Scrypt, ACostHasBounds) {
  EXPECT_EQ(scrypt("a", "b", {.n = 3}, 32).error().code, Code::invalid);
  EXPECT_EQ(scrypt("a", "b", {.n = 1 << 22, .r = 8}, 32).error().code, Code::limit);
  EXPECT_EQ(scrypt("a", "b", {.r = 0}, 32).error().code, Code::invalid);
}

}  // namespace scrypt_test
}  // namespace sluice::crypto
