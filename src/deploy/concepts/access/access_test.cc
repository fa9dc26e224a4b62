// Access through the harness: one test a variant. What a policy gives is tested in access_policy_test.cc.
#include <gtest/gtest.h>

#include "access.gen.h"
#include "crypto/sha256.h"
#include "lang/run/harness.h"

namespace sluice::deploy::access {
namespace access_test {

const std::string kHead = "schema: sluice.access-policy.v1\ngrants:\n";
const std::string kAdmin = kHead + "- {to: [user:ann], role: admin}\n";
const std::string kTeam = kAdmin + "- {to: [user:bob], role: deployer, environments: [staging], allow: [Access/*]}\n";

class AccessTest : public ::testing::Test {
 protected:
  Issue issue_of(const std::string& subject, const std::string& name = "laptop") const {
    return {.name = name,
            .subject = subject,
            .digest = crypto::to_string(crypto::sha256("secret")),
            .environments = {},
            .caller = "uid:0"};
  }
  lang::Harness harness{access_binding()};
};

TEST_F(AccessTest, AppliesAPolicyAndKeepsThoseBefore) {
  EXPECT_EQ(harness.invoke(Show{}).as<Show::Ok>().version, 0);
  EXPECT_EQ(harness.invoke(Apply{.policy = kAdmin, .caller = "uid:0"}).as<Apply::Ok>().version, 1);
  auto second = harness.invoke(Apply{.policy = kTeam, .version = 1, .caller = "user:ann"}).as<Apply::Ok>();
  EXPECT_EQ(second.version, 2);
  EXPECT_EQ(second.grants, 2);
  auto now = harness.invoke(Show{}).as<Show::Ok>();
  EXPECT_EQ(now.policy, kTeam);
  EXPECT_EQ(now.appliedBy, "user:ann");
  auto before = harness.invoke(Show{.version = 1}).as<Show::Ok>();
  EXPECT_EQ(before.policy, kAdmin);
  EXPECT_EQ(before.appliedBy, "uid:0");
  EXPECT_EQ(harness.invoke(Show{.version = 9}).as<Show::NotFound>().message, "there is no version 9 of the policy");
}

TEST_F(AccessTest, KeepsTheFiftyPoliciesBefore) {
  for (int i = 0; i < 53; ++i) harness.invoke(Apply{.policy = kAdmin}).as<Apply::Ok>();
  harness.invoke(Show{.version = 2}).as<Show::NotFound>();
  harness.invoke(Show{.version = 3}).as<Show::Ok>();
}

TEST_F(AccessTest, ApplyRefusesWhatIsNoPolicy) {
  EXPECT_EQ(harness.invoke(Apply{.policy = kHead + "- {to: [ann], role: admin}\n"}).as<Apply::Invalid>().message,
            "/grants/0/to: 'ann' is no user, service or group: write user:NAME, service:NAME, group:NAME or everyone");
}

TEST_F(AccessTest, ApplyRefusesAVersionThatHoldsNoMore) {
  harness.invoke(Apply{.policy = kAdmin}).as<Apply::Ok>();
  auto stale = harness.invoke(Apply{.policy = kTeam, .version = 0}).as<Apply::Stale>();
  EXPECT_EQ(stale.actual, 1);
  EXPECT_EQ(stale.message, "version 1 holds, not 0; nothing was changed");
}

TEST_F(AccessTest, ApplyRefusesToGrantWhatTheCallerLacks) {
  harness.invoke(Apply{.policy = kTeam}).as<Apply::Ok>();
  const std::string more = kTeam + "- {to: [user:bob], role: admin}\n";
  EXPECT_EQ(harness.invoke(Apply{.policy = more, .caller = "user:bob"}).as<Apply::Exceeds>().message,
            "user:bob does not hold admin everywhere, and cannot grant it");
  harness.invoke(Apply{.policy = more, .caller = "user:ann"}).as<Apply::Ok>();
}

TEST_F(AccessTest, ApplyRefusesACertificateForSomebodyWhoMayMore) {
  harness.invoke(Apply{.policy = kTeam}).as<Apply::Ok>();
  const std::string more = kTeam + "certificates: [{subject: CN=bob, as: user:ann}]\n";
  EXPECT_EQ(harness.invoke(Apply{.policy = more, .caller = "user:bob"}).as<Apply::Exceeds>().message,
            "user:bob does not hold admin everywhere, which user:ann does");
  harness.invoke(Apply{.policy = more, .caller = "user:ann"}).as<Apply::Ok>();
  harness.invoke(Apply{.policy = more, .caller = "user:bob"}).as<Apply::Ok>();  // it was there already
}

TEST_F(AccessTest, TheLastAdminStays) {
  harness.invoke(Apply{.policy = kAdmin}).as<Apply::Ok>();
  const std::string none = kHead + "- {to: [user:ann], role: operator}\n";
  EXPECT_EQ(harness.invoke(Apply{.policy = none, .caller = "uid:0"}).as<Apply::LastAdmin>().message,
            "this would leave nobody who is admin everywhere; nothing was changed");
  auto token = harness.invoke(issue_of("user:ann")).as<Issue::Ok>().token;
  EXPECT_EQ(harness.invoke(Revoke{.token = token, .caller = "uid:0"}).as<Revoke::LastAdmin>().message,
            "laptop is the last token of an admin; nothing was changed");
  harness.invoke(issue_of("user:ann", "desk")).as<Issue::Ok>();
  harness.invoke(Revoke{.token = token}).as<Revoke::Ok>();
}

TEST_F(AccessTest, IssuesATokenOnceForAName) {
  auto made = harness.invoke(issue_of("service:ci")).as<Issue::Ok>();
  EXPECT_EQ(harness.invoke(issue_of("service:ci")).as<Issue::Exists>().token, made.token);
  harness.invoke(issue_of("user:ci")).as<Issue::Ok>();
  auto listed = harness.invoke(List{}).as<List::Ok>().tokens;
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].status, "good");
  EXPECT_EQ(listed[0].createdBy, "uid:0");
  harness.invoke(NoteUse{.tokens = {made.token, AccessId("nobody")}}).as<NoteUse::Ok>();
  harness.invoke(Revoke{.token = made.token}).as<Revoke::Ok>();
  harness.invoke(Revoke{.token = made.token}).as<Revoke::Ok>();
  for (const auto& each : harness.invoke(List{}).as<List::Ok>().tokens) {
    EXPECT_EQ(each.status, each.token == made.token ? "revoked" : "good");
    EXPECT_EQ(each.lastUsed.has_value(), each.token == made.token);
  }
  harness.invoke(issue_of("service:ci")).as<Issue::Ok>();  // the name is free again
}

TEST_F(AccessTest, IssueRefusesWhatIsNoToken) {
  auto fault = [&](auto change) {
    Issue ask = issue_of("user:ann");
    change(ask);
    return harness.invoke(ask).template as<Issue::Invalid>().message;
  };
  EXPECT_EQ(fault([](Issue& ask) { ask.name = ""; }), "a token's name is one line of at most 100 bytes");
  EXPECT_EQ(fault([](Issue& ask) { ask.name = "a\nb"; }), "a token's name is one line of at most 100 bytes");
  EXPECT_EQ(fault([](Issue& ask) { ask.digest = "secret"; }).substr(0, 12), "the digest: ");
  EXPECT_EQ(fault([](Issue& ask) { ask.role = "root"; }),
            "'root' is no role: write viewer, deployer, operator or admin");
  EXPECT_EQ(fault([](Issue& ask) { ask.expires = lang::DateTime{1}; }), "the token would be expired already");
}

TEST_F(AccessTest, IssueRefusesATokenForSomebodyWhoMayMore) {
  harness.invoke(Apply{.policy = kTeam}).as<Apply::Ok>();
  Issue ask = issue_of("user:ann");
  ask.caller = "user:bob";
  EXPECT_EQ(harness.invoke(ask).as<Issue::Exceeds>().message,
            "user:bob does not hold admin everywhere, which user:ann does");
}

TEST_F(AccessTest, RevokeNamesATokenThatIsNotThere) {
  EXPECT_EQ(harness.invoke(Revoke{.token = AccessId("t1")}).as<Revoke::NotFound>().message, "there is no token t1");
}

}  // namespace access_test
}  // namespace sluice::deploy::access
