// Approval through the harness: one test a variant.
#include <gtest/gtest.h>

#include "approval.gen.h"
#include "lang/run/harness.h"

namespace sluice::deploy::approval {
namespace approval_test {

class ApprovalTest : public ::testing::Test {
 protected:
  // A call of user:ann that two people must agree to.
  ApprovalId waiting() {
    return State(harness.rows())
        .add(ApprovalRecord{.requester = "user:ann", .action = "Traffic/set", .needed = 2, .status = "waiting"});
  }
  ApprovalRecord record(const ApprovalId& id) { return *State(harness.rows()).get(id); }
  lang::Invoked<Vote> vote(const ApprovalId& id, const std::string& who, bool agree = true) {
    return harness.invoke(Vote{.approval = id, .agree = agree, .caller = who});
  }

  lang::Harness harness{approval_binding()};
};

TEST_F(ApprovalTest, HowAnAskEndsIsWrittenDown) {
  const Ask ask{.requester = "user:ann",
                .action = "Traffic/set",
                .input = "{}",
                .seen = "{}",
                .reason = "tea",
                .environment = "prod",
                .needed = 1,
                .seconds = 60};
  const std::vector<std::pair<lang::Completion, std::string>> ends = {
      {{"ok", {{"by", {"user:bob"}}}}, "approved"},
      {{"rejected", {{"by", "user:bob"}, {"message", "no"}}}, "rejected"},
      {{"expired", {{"message", "late"}}}, "expired"}};
  for (const auto& [answer, status] : ends) {
    harness.answer_with(answer);
    EXPECT_EQ(lang::to_text(harness.invoke(ask).ending()).substr(0, answer.variant.size()), answer.variant);
    State state(harness.rows());
    std::vector<ApprovalFound> all;
    for (const auto& each : state.all()) all.push_back(each);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].record.status, status);
    EXPECT_EQ(all[0].record.expiresAt.ms - all[0].record.askedAt.ms, 60'000);
    state.erase(all[0].id);
  }
}

TEST_F(ApprovalTest, AnnounceTellsWhatItIsGiven) {
  const ApprovalId id = waiting();
  const auto told = harness.invoke(Announce{
      .approval = id, .requester = "user:ann", .action = "Traffic/set", .environment = "prod", .message = "please"});
  EXPECT_EQ(told.as<Announce::Ok>().approval, id);
  EXPECT_EQ(told.as<Announce::Ok>().environment, "prod");
  EXPECT_EQ(told.as<Announce::Ok>().message, "please");
}

TEST_F(ApprovalTest, TheLastYesApprovesAndAPersonCountsOnce) {
  const ApprovalId id = waiting();
  EXPECT_EQ(vote(id, "user:bob").as<Vote::Counted>().yes, 1);
  EXPECT_EQ(vote(id, "user:bob").as<Vote::Counted>().yes, 1);
  EXPECT_EQ(vote(id, "uid:1000").as<Vote::Ok>().by, (std::vector<std::string>{"user:bob", "uid:1000"}));
}

TEST_F(ApprovalTest, NobodyApprovesTheirOwnCallAndNoProgramDoes) {
  const ApprovalId id = waiting();
  EXPECT_EQ(vote(id, "user:ann").as<Vote::OwnRequest>().message, "user:ann asked for it, and others must approve it");
  EXPECT_EQ(vote(id, "service:ci").as<Vote::NotAPerson>().message, "service:ci is no person, and only people approve");
}

TEST_F(ApprovalTest, OneNoEndsItAlsoTheRequestersOwn) {
  EXPECT_EQ(vote(waiting(), "user:bob", false).as<Vote::Rejected>().message, "user:bob said no");
  EXPECT_EQ(vote(waiting(), "user:ann", false).as<Vote::Rejected>().by, "user:ann");
}

TEST_F(ApprovalTest, WhatIsOverOrUnknownTakesNoVote) {
  const ApprovalId id = waiting();
  EXPECT_EQ(harness.invoke(Conclude{.approval = id, .status = "done", .outcome = "01K"}).as<Conclude::Ok>().status,
            "done");
  EXPECT_EQ(record(id).outcome, "01K");
  EXPECT_EQ(vote(id, "user:bob").as<Vote::Over>().message, "the call is done; there is nothing to decide");
  EXPECT_TRUE(vote(ApprovalId("none"), "user:bob").is<Vote::NotFound>());
  EXPECT_TRUE(harness.invoke(Conclude{.approval = ApprovalId("none"), .status = "done"}).is<Conclude::NotFound>());
}

}  // namespace approval_test
}  // namespace sluice::deploy::approval
