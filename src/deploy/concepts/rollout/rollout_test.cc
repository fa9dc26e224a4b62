// Rollout alone, through the harness: how it begins, waits and ends. What syncs make of it is tested on the kit.
#include <gmock/gmock.h>

#include "deploy/concepts/rollout/testing_rollout.h"

namespace sluice::deploy::rollout {
namespace rollout_test {

using testing::HasSubstr;
using Entries = std::vector<RolloutEntry>;

TEST_F(RolloutTest, BeginRefusesTimesAndCriteriaThatCannotBe) {
  Begin ask = wish();
  ask.criteria = R"({"interval": 0})";
  EXPECT_EQ(refused(ask), "criteria: interval is 1 to 3600 seconds");
  ask.criteria = R"({"maxErrorRate": 3})";
  EXPECT_THAT(refused(ask), HasSubstr("criteria: "));
  ask.criteria = R"({"source": {"type": "webhook", "url": "http://counts.example", "key": "file:/owner.token"}})";
  ask.caller = "user:dan";
  EXPECT_THAT(refused(ask), HasSubstr("criteria: source: only the home's owner may name a key"));
  ask = wish();
  ask.holdbackBps = 100;
  EXPECT_THAT(refused(ask), HasSubstr("say how long with `after`"));
  ask = wish();
  ask.progressDeadline = 5;
  EXPECT_EQ(refused(ask), "step 1 stays longer than the progress deadline of 5s");
  ask = wish();
  ask.concurrency = "both";
  EXPECT_EQ(refused(ask), "concurrency is queue or supersede, not both");
  ask = wish();
  ask.after = -1;
  EXPECT_EQ(refused(ask), "a time is 0 to 30 days");
}

TEST_F(RolloutTest, WhatHasNoTrafficYetIsWithdrawn) {
  RolloutId first = moved(wish());
  RolloutId second = begin(wish("r3"));
  EXPECT_EQ(record(second).status, RolloutStatus::queued);
  EXPECT_TRUE(harness.invoke(Abort{.rollout = second}).is<Abort::Withdrawn>());
  EXPECT_TRUE(harness.invoke(AwaitTurn{.rollout = second}).is<AwaitTurn::Withdrawn>());
  EXPECT_TRUE(harness.invoke(Prepare{.rollout = second}).is<Prepare::Withdrawn>());
  EXPECT_TRUE(harness.invoke(Fail{.rollout = second, .message = "x"}).is<Fail::Stale>());
  EXPECT_EQ(record(first).status, RolloutStatus::running);
}

TEST_F(RolloutTest, OneOfADeploymentAtATimeInTheOrderOfTheirBeginning) {
  RolloutId first = begin(wish());
  EXPECT_TRUE(harness.invoke(AwaitTurn{.rollout = first}).is<AwaitTurn::Ok>());
  EXPECT_THAT(harness.invoke(wish()).as<Begin::Exists>().message, HasSubstr("a rollout of this revision is due"));
  RolloutId second = begin(wish("r3")), third = begin(wish("r4"));
  harness.invoke(Abort{.rollout = first});
  EXPECT_EQ(record(second).status, RolloutStatus::due);
  EXPECT_EQ(record(third).status, RolloutStatus::queued);
  for (const char* variant : {"ok", "aborted", "superseded", "stuck"}) {
    lang::Completion end{variant, {{"rollout", second.text()}}};
    if (end.variant != "ok") end.fields["reason"] = "";
    harness.answer_with(end);
    EXPECT_EQ(lang::to_text(harness.invoke(rollout::Run{.rollout = second}).ending()).substr(0, end.variant.size()),
              variant);
  }
  harness.end_with({.outcome = lang::EngineOutcome::cancelled, .message = "cancelled"});
  harness.invoke(rollout::Run{.rollout = second});
  EXPECT_EQ(record(second).status, RolloutStatus::stuck);
}

TEST_F(RolloutTest, ANewerOneTakesThePlaceAndTheWayBack) {
  RolloutId first = moved(wish());
  Begin ask = wish("r3");
  ask.concurrency = "supersede";
  RolloutId second = begin(ask);
  EXPECT_EQ(record(first).status, RolloutStatus::superseded);
  harness.invoke(Prepare{.rollout = second, .entries = {{"r2", 1'000}, {"r1", 9'000}}}).as<Prepare::Ok>();
  EXPECT_EQ(step(second).entries, (Entries{{"r3", 1'000}, {"r1", 9'000}}));
  EXPECT_EQ(harness.invoke(Abort{.rollout = second}).as<Abort::Ok>().entries, (Entries{{"r1", 10'000}}));
}

TEST_F(RolloutTest, EndsWithItsTrafficAndIsForgottenWithItsDeployment) {
  RolloutId id = moved(wish());
  EXPECT_EQ(harness.invoke(Fail{.rollout = id, .message = "no router"}).as<Fail::Ok>().reason, "no router");
  EXPECT_EQ(record(id).status, RolloutStatus::stuck);
  EXPECT_TRUE(harness.invoke(Drop{.deployment = "d1", .reason = "cleared"}).is<Drop::Ok>());
  EXPECT_EQ(record(id).status, RolloutStatus::aborted);
  EXPECT_TRUE(harness.invoke(Forget{.deployment = "d1"}).is<Forget::Ok>());
  EXPECT_TRUE(harness.invoke(Status{.rollout = id}).is<Status::NotFound>());
}

TEST_F(RolloutTest, BeginRefusesStepsThatCannotBe) {
  EXPECT_EQ(refused_steps({"50%", "25%"}), "step 2: its weight 25% is not above step 1's 50%");
  EXPECT_EQ(refused_steps({"10%", "10%"}), "step 2: its weight 10% is not above step 1's 10%");
  EXPECT_THAT(refused_steps({"110%"}), HasSubstr("step 1: "));
  EXPECT_THAT(refused_steps({"10%:soon"}), HasSubstr("write 10%:5m, or 10%:manual to wait for a person"));
  EXPECT_EQ(refused_steps({"0%"}), "step 1: a weight of 0% is a step of blue-green alone");
  EXPECT_EQ(refused_steps({"10%"}, "blue-green"), "step 1: blue-green gives 0% or 100%, nothing between");
  EXPECT_EQ(refused_steps({"10%"}, "immediate"), "step 1: immediate gives 100% at once");
  EXPECT_THAT(refused_steps({"100%:5m"}), HasSubstr("no step may follow 100%"));
  EXPECT_EQ(refused_steps({"10%"}, "magic"),
            "there is no strategy magic; it is canary, blue-green, rolling or immediate");
  EXPECT_TRUE(State(harness.rows()).find_by_deployment("d1").empty());
}

}  // namespace rollout_test
}  // namespace sluice::deploy::rollout
