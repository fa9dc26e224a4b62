// A token is good once, for an hour, and only as it was made.
#include "host/join_tokens.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::host {
namespace join_tokens_test {

struct Tokens : testing::Test {
  void SetUp() override { ASSERT_TRUE(home.folder("keys")); }
  std::string refusal(const std::string& token) {
    auto taken = tokens.take(token);
    return taken ? "" : taken.error().message;
  }

  RealDisk disk;
  TestingFolder folder;
  Home home{disk, folder.path("h")};
  ManualClock clock{1'700'000'000'000};
  JoinTokens tokens{disk, home, clock};
};

TEST_F(Tokens, OneIsGoodOnce) {
  auto made = tokens.make("sha256:ab");
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->token.starts_with("slj_"));
  EXPECT_EQ(fingerprint_in(made->token), "sha256:ab");
  EXPECT_EQ(refusal(made->token), "");
  EXPECT_EQ(refusal(made->token), "this token was used already, and is good once");
}

TEST_F(Tokens, OneExpires) {
  const std::string token = tokens.make("")->token;
  EXPECT_EQ(fingerprint_in(token), "");
  clock.advance_ms(3'600'000);
  EXPECT_EQ(refusal(token), "this token expired at 2023-11-14T23:13:20.000Z");
}

TEST_F(Tokens, OneOfAnotherClusterAndOneThatWasChangedAreRefused) {
  auto made = tokens.make("sha256:ab");
  EXPECT_EQ(refusal("slj_other"), "this token is not one of this cluster's");
  EXPECT_EQ(refusal(made->token + "c"), "this token is not one of this cluster's");
  EXPECT_EQ(refusal(made->token), "");
}

TEST_F(Tokens, AnyNumberMayBeUsedOneAfterTheOther) {
  for (int made = 0; made < 150; ++made) EXPECT_EQ(refusal(tokens.make("")->token), "");
  EXPECT_TRUE(tokens.make(""));
}

TEST_F(Tokens, ThereIsAnEndToThem) {
  for (int made = 0; made < 100; ++made) ASSERT_TRUE(tokens.make(""));
  EXPECT_EQ(tokens.make("").error().code, Code::limit);
  clock.advance_ms(2 * 3'600'000 + 1);
  EXPECT_TRUE(tokens.make(""));
}

}  // namespace join_tokens_test
}  // namespace sluice::host
