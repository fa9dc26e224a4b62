// How an authority is spoken to, by a script in its place.
#include "acme/authority.h"

#include <gtest/gtest.h>

#include "acme/testing_authority.h"
#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::acme {
namespace authority_test {

constexpr const char* kUnknown = R"({"type":"urn:ietf:params:acme:error:accountDoesNotExist","detail":"who?"})";

class AuthorityTest : public testing::Test {
 protected:
  AuthorityTest() {
    script_.answers["/directory"] = {ScriptedAuthority::answer(200, kDirectory)};
    script_.answers["/nonce"] = {ScriptedAuthority::answer(200, "")};
    script_.answers["/account"] = {ScriptedAuthority::answer(201, "{}", "https://ca.example/account-1"),
                                   ScriptedAuthority::answer(201, "{}", "https://ca.example/account-2")};
    script_.answers["/thing"] = {ScriptedAuthority::answer(200, R"({"status":"valid"})")};
  }

  std::string account_kept() {
    auto accounts = disk_.list(place_.folder + "/accounts");
    return *read_file(disk_, place_.folder + "/accounts/" + accounts->front().name + "/url", 1000);
  }

  ScriptedAuthority script_;
  const Send send_ = [this](const http::OutgoingRequest& request) { return script_(request); };
  TestingFolder folder_;
  RealDisk disk_;
  ManualClock clock_;
  const Wish wish_{.directory = "https://ca.example/directory", .names = {"shop.example"}};
  const Place place_{.disk = disk_, .clock = clock_, .folder = folder_.path("acme"), .id = "shop"};
};

TEST_F(AuthorityTest, KeepsItsAccount) {
  for (int i = 0; i < 2; ++i) {
    Authority authority(wish_, place_, send_);
    ASSERT_TRUE(authority.open() && authority.log_in());
    EXPECT_EQ(text_in(authority.post("https://ca.example/thing", "")->object, "status"), "valid");
    EXPECT_EQ(text_in(script_.asked.back().head, "kid"), "https://ca.example/account-1");
  }
  EXPECT_EQ(std::ranges::count(script_.asked, "/account", &ScriptedAuthority::Asked::path), 1);
}

TEST_F(AuthorityTest, RegistersAnAccountAgainThatTheAuthorityForgot) {
  {
    Authority before(wish_, place_, send_);
    ASSERT_TRUE(before.open() && before.log_in());
  }
  const json::value key = script_.asked.back().head.at("jwk");
  script_.answers["/thing"].insert(script_.answers["/thing"].begin(), ScriptedAuthority::answer(400, kUnknown));
  Authority authority(wish_, place_, send_);
  ASSERT_TRUE(authority.open() && authority.log_in());
  auto said = authority.post("https://ca.example/thing", "payload");
  ASSERT_TRUE(said);
  EXPECT_EQ(text_in(said->object, "status"), "valid");
  const size_t count = script_.asked.size();
  EXPECT_EQ(script_.asked[count - 2].path, "/account");
  EXPECT_EQ(script_.asked[count - 2].head.at("jwk"), key);
  EXPECT_EQ(text_in(script_.asked[count - 1].head, "kid"), "https://ca.example/account-2");
  EXPECT_EQ(script_.asked[count - 1].payload, "payload");
  EXPECT_EQ(account_kept(), "https://ca.example/account-2");
}

TEST_F(AuthorityTest, AsksNoMoreThanOnceForAnAccountThatIsForgottenAtOnce) {
  script_.answers["/thing"] = {ScriptedAuthority::answer(400, kUnknown)};
  Authority authority(wish_, place_, send_);
  ASSERT_TRUE(authority.open() && authority.log_in());
  auto said = authority.post("https://ca.example/thing", "");
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().message, "the authority refuses (https://ca.example/thing): who?");
  EXPECT_EQ(std::ranges::count(script_.asked, "/account", &ScriptedAuthority::Asked::path), 1);
}

}  // namespace authority_test
}  // namespace sluice::acme
