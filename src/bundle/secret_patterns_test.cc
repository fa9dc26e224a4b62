// What looks like a secret and what does not. The secrets here are made up, and put together so that no other doctor
// takes this file for one.
#include "bundle/secret_patterns.h"

#include <gtest/gtest.h>

#include "crypto/base64.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::bundle {
namespace secret_patterns_test {

std::string kind_of(const std::string& text, bool is_binary = false) {
  auto match = find_token(text, 0, text.size(), is_binary);
  return match ? std::string(match->kind) : "";
}

std::string random_letters(size_t count) {
  std::string letters;
  for (int i = 0; letters.size() < count; ++i) letters += crypto::to_hex(crypto::sha256(std::to_string(i)));
  return letters.substr(0, count);
}

std::string pem(const std::string& label, const std::string& line_break = "\n") {
  std::string dashes(5, '-');
  return dashes + "BEGIN " + label + dashes + line_break + random_letters(64) + line_break + random_letters(64) +
         line_break + dashes + "END " + label + dashes + line_break;
}

TEST(SecretPatterns, KnowPrivateKeys) {
  EXPECT_EQ(kind_of(pem("PRIVATE KEY")), "a private key");
  EXPECT_EQ(kind_of("x" + pem("RSA PRIVATE KEY")), "a private key");
  EXPECT_EQ(kind_of(pem("OPENSSH PRIVATE KEY", "\\n")), "a private key") << "inside a string";
  EXPECT_EQ(kind_of(pem("PRIVATE KEY", "\n+")), "a private key") << "a plus is a letter of it";
  EXPECT_EQ(kind_of(pem("PUBLIC KEY")), "");
  EXPECT_EQ(kind_of(pem("CERTIFICATE")), "");
  std::string dashes(5, '-');
  EXPECT_EQ(kind_of(dashes + "BEGIN PRIVATE KEY" + dashes + std::string(1, '\0') + "other words", true), "")
      << "a library that knows the words";
  EXPECT_EQ(kind_of(dashes + "BEGIN %s" + dashes), "");
}

TEST(SecretPatterns, InABinaryAPrivateKeyMustBeOneByItsForm) {
  auto block = [](std::string_view label, const std::string& bytes) {
    std::string dashes(5, '-');
    return dashes + "BEGIN " + std::string(label) + dashes + "\n" + crypto::to_base64(bytes) + "\n" + dashes + "END";
  };
  EXPECT_EQ(kind_of(pem("EC PRIVATE KEY"), true), "") << "any letters";
  const std::string body(100, 'k');
  EXPECT_EQ(kind_of(block("EC PRIVATE KEY", "\x30\x64" + body), true), "a private key");
  EXPECT_EQ(kind_of(block("PRIVATE KEY", "\x30\x81\x64" + body), true), "a private key");
  EXPECT_EQ(kind_of(block("PRIVATE KEY", std::string("\x30\x82\x00\x64", 4) + body), true), "a private key");
  EXPECT_EQ(kind_of(block("PRIVATE KEY", "\x30\x65" + body), true), "") << "it says another length";
  EXPECT_EQ(kind_of(block("OPENSSH PRIVATE KEY", std::string("openssh-key-v1") + '\0' + body), true), "a private key");
  EXPECT_EQ(kind_of(pem("PGP PRIVATE KEY BLOCK"), true), "a private key");
}

TEST(SecretPatterns, KnowTokensByTheirFirstLetters) {
  EXPECT_EQ(kind_of("key=AKIA"
                    "Q3EGLU2R7XVNTP4H"),
            "an AWS access key");
  EXPECT_EQ(kind_of("AKIA"
                    "IOSFODNN7EXAMPLE"),
            "")
      << "the one in every manual";
  EXPECT_EQ(kind_of("XAKIA"
                    "Q3EGLU2R7XVNTP4H"),
            "")
      << "inside a word";
  EXPECT_EQ(kind_of("AKIA"
                    "Q3EGLU2R7XVNTP4HX"),
            "")
      << "too long";
  EXPECT_EQ(kind_of("ghp_" + random_letters(36)), "a GitHub token");
  EXPECT_EQ(kind_of("ghp_" + random_letters(35)), "");
  EXPECT_EQ(kind_of("ghp_" + std::string(36, 'x')), "");
  EXPECT_EQ(kind_of("glpat-" + random_letters(20)), "a GitLab token");
  EXPECT_EQ(kind_of("sk_live_" + random_letters(24)), "a Stripe key");
  EXPECT_EQ(kind_of("AIza" + random_letters(35)), "a Google API key");
  EXPECT_EQ(kind_of("xoxb-" + random_letters(40)), "a Slack token");
  EXPECT_EQ(kind_of("npm_" + random_letters(36)), "an npm token");
}

TEST(SecretPatterns, KnowWebTokens) {
  std::string head = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
  EXPECT_EQ(kind_of("Bearer " + head + ".eyJzdWIiOiIxMjM0In0." + random_letters(43)), "a JSON Web Token");
  EXPECT_EQ(kind_of(head + ".eyJzdWIiOiIxMjM0In0"), "") << "without a signature";
  EXPECT_EQ(kind_of("eyJmb28iOiJiYXJiYXJiYXIifQ.eyJzdWIiOiIxMjM0In0." + random_letters(43)), "") << "without alg";
}

TEST(SecretPatterns, KnowPasswordsInAddresses) {
  EXPECT_EQ(kind_of("postgres://app:f7Kq0vXz@db.example/shop"), "an address with a password");
  EXPECT_EQ(kind_of("https://ann:f7Kq0vXz@git.example/x"), "an address with a password");
  EXPECT_EQ(kind_of("postgres://user:password@localhost/db"), "");
  EXPECT_EQ(kind_of("postgres://app:${DB_PASSWORD}@db.example/"), "");
  EXPECT_EQ(kind_of("https://shop.example:8080/a@b"), "");
  EXPECT_EQ(kind_of("postgres://app:f7Kq0vXz@db.example/shop", true), "") << "too weak for binaries";
}

TEST(SecretPatterns, ReadAssignments) {
  auto read = [](std::string_view text, char sign = '=') {
    auto found = assignment_at(text, text.find(sign));
    return found ? std::string(found->name) + "|" + std::string(found->value) : "";
  };
  EXPECT_EQ(read("password = \"a b\""), "password|a b");
  EXPECT_EQ(read("PASSWORD=abc # x"), "PASSWORD|abc");
  EXPECT_EQ(read("\"token\": \"abc\",", ':'), "token|abc");
  EXPECT_EQ(read("config['secret'] = 'abc'"), "secret|abc");
  EXPECT_EQ(read("secret := \"abc\""), "secret|abc");
  EXPECT_EQ(read("a == b"), "");
  EXPECT_EQ(read("= b"), "");
  EXPECT_EQ(read("a ="), "");
  EXPECT_TRUE(assignment_at("x\nexport A=b", 10)->at_line_start);
}

TEST(SecretPatterns, JudgeNamesAndValues) {
  EXPECT_TRUE(names_a_secret("DB_PASSWORD"));
  EXPECT_TRUE(names_a_secret("clientSecret"));
  EXPECT_TRUE(names_a_secret("github-token"));
  EXPECT_FALSE(names_a_secret("password_file"));
  EXPECT_FALSE(names_a_secret("PWD"));
  EXPECT_FALSE(names_a_secret("secretName"));
  EXPECT_FALSE(names_a_secret("monkey"));
  for (const char* value : {"changeme", "${DB}", "<your-token>", "example-password", "xxxxxxxxxxxx", "$TOKEN",
                            "{{ secret }}", "secret://db/password", ""}) {
    EXPECT_TRUE(is_placeholder(value)) << value;
  }
  EXPECT_FALSE(is_placeholder("f7Kq0vXz"));
  EXPECT_TRUE(looks_random("f7Kq0vXz91Lm"));
  EXPECT_FALSE(looks_random("correct-horse-battery"));
  EXPECT_FALSE(looks_random("getToken(request2)"));
  EXPECT_FALSE(looks_random("short1"));
}

}  // namespace secret_patterns_test
}  // namespace sluice::bundle
