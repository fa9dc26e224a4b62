// What is a private key and what only speaks of one.
#include "bundle/secrets/private_keys.h"

#include <gtest/gtest.h>

#include "bundle/secrets/testing_secrets.h"
#include "crypto/base64.h"

namespace sluice::bundle {
namespace private_keys_test {

TEST(PrivateKeys, AreKnownByTheirForm) {
  EXPECT_EQ(kind_of(pem_of("PRIVATE KEY")), "a private key");
  EXPECT_EQ(kind_of("x" + pem_of("RSA PRIVATE KEY")), "a private key");
  EXPECT_EQ(kind_of(pem_of("OPENSSH PRIVATE KEY", "\\n")), "a private key") << "inside a string";
  EXPECT_EQ(kind_of(pem_of("PRIVATE KEY", "\n+")), "a private key") << "a plus is a letter of it";
  EXPECT_EQ(kind_of(pem_of("PUBLIC KEY")), "");
  EXPECT_EQ(kind_of(pem_of("CERTIFICATE")), "");
  std::string dashes(5, '-');
  EXPECT_EQ(kind_of(dashes + "BEGIN PRIVATE KEY" + dashes + std::string(1, '\0') + "other words", true), "")
      << "a library that knows the words";
  EXPECT_EQ(kind_of(dashes + "BEGIN %s" + dashes), "");
}

TEST(PrivateKeys, InABinaryMustBeOnesByTheirForm) {
  auto block = [](std::string_view label, const std::string& bytes) {
    std::string dashes(5, '-');
    return dashes + "BEGIN " + std::string(label) + dashes + "\n" + crypto::to_base64(bytes) + "\n" + dashes + "END";
  };
  EXPECT_EQ(kind_of(pem_of("EC PRIVATE KEY"), true), "") << "any letters";
  const std::string body(100, 'k');
  EXPECT_EQ(kind_of(block("EC PRIVATE KEY", "\x30\x64" + body), true), "a private key");
  EXPECT_EQ(kind_of(block("PRIVATE KEY", "\x30\x81\x64" + body), true), "a private key");
  EXPECT_EQ(kind_of(block("PRIVATE KEY", std::string("\x30\x82\x00\x64", 4) + body), true), "a private key");
  EXPECT_EQ(kind_of(block("PRIVATE KEY", "\x30\x65" + body), true), "") << "it says another length";
  EXPECT_EQ(kind_of(block("OPENSSH PRIVATE KEY", std::string("openssh-key-v1") + '\0' + body), true), "a private key");
  EXPECT_EQ(kind_of(pem_of("PGP PRIVATE KEY BLOCK"), true), "a private key");
}

}  // namespace private_keys_test
}  // namespace sluice::bundle
