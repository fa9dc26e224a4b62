// What looks like a secret and what does not.
#include "bundle/secrets/secret_patterns.h"

#include <gtest/gtest.h>

#include "bundle/secrets/testing_secrets.h"

namespace sluice::bundle {
namespace secret_patterns_test {

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

// The search asks about several bytes at once: wherever a token lies among them, to the last byte, it is found.
TEST(SecretPatterns, FindATokenWhereverItLies) {
  const std::string token = "glpat-" + random_letters(20);
  for (size_t before = 0; before < 70; ++before) {
    for (size_t behind : {0, 1, 2, 3, 15, 16, 17, 40}) {
      const std::string text = std::string(before, ' ') + token + std::string(behind, ' ');
      auto found = find_token(text, 0, text.size(), true);
      ASSERT_TRUE(found) << before << " before, " << behind << " behind";
      EXPECT_EQ(found->begin, before);
      EXPECT_FALSE(find_token(text, before + 1, text.size(), true)) << "none begins behind it";
      EXPECT_FALSE(find_token(text, 0, before, true)) << "none begins before it";
    }
  }
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

}  // namespace secret_patterns_test
}  // namespace sluice::bundle
