// How a rollout moves forward and back, through the harness.
#include <gmock/gmock.h>

#include "deploy/concepts/rollout/testing_rollout.h"

namespace sluice::deploy::rollout {
namespace rollout_moves_test {

using Entries = std::vector<RolloutEntry>;

TEST_F(RolloutTest, MovesStepByStepToTheEnd) {
  RolloutId id = prepared(wish());
  EXPECT_EQ(record(id).baseline, "r1");
  EXPECT_EQ(
      step(id),
      (Advance::Ok{
          .rollout = id, .step = 1, .newWeight = 1'000, .move = "judge", .entries = {{"r2", 1'000}, {"r1", 9'000}}}));
  EXPECT_EQ(step(id).move, "hold");
  auto last = step(id);
  EXPECT_EQ(last.move, "finish");
  EXPECT_EQ(last.entries, (Entries{{"r2", 10'000}}));
  EXPECT_FALSE(harness.invoke(Advance{.rollout = id, .step = 3}).as<Advance::Complete>().watch);
  EXPECT_EQ(record(id).status, RolloutStatus::complete);
  EXPECT_EQ(harness.invoke(Status{.rollout = id}).as<Status::Ok>().status, "complete");
  EXPECT_TRUE(harness.invoke(Close{.rollout = id}).is<Close::Stale>());
}

TEST_F(RolloutTest, AdvanceComparesTheStepItself) {
  RolloutId id = moved(wish());
  EXPECT_TRUE(harness.invoke(Advance{.rollout = id, .step = 0}).is<Advance::Stale>());
  EXPECT_EQ(harness.invoke(Advance{.rollout = id}).as<Advance::Ok>().step, 2) << "a person needs none";
  EXPECT_TRUE(harness.invoke(Advance{.rollout = id, .step = 1}).is<Advance::Stale>());
  EXPECT_EQ(harness.invoke(Advance{.rollout = id, .full = true}).as<Advance::Ok>().step, 3);
  EXPECT_EQ(harness.invoke(Advance{.rollout = RolloutId("none")}).as<Advance::NotFound>().message,
            "there is no rollout none");
}

TEST_F(RolloutTest, PausesAndResumes) {
  RolloutId id = moved(wish());
  EXPECT_TRUE(harness.invoke(Resume{.rollout = id}).is<Resume::NotPaused>());
  EXPECT_TRUE(harness.invoke(Pause{.rollout = id, .reason = "lunch"}).is<Pause::Ok>());
  EXPECT_EQ(harness.invoke(Advance{.rollout = id, .step = 1}).as<Advance::Paused>().reason, "lunch");
  EXPECT_EQ(harness.invoke(Pause{.rollout = id, .reason = "again"}).as<Pause::NotRunning>().message,
            "it is paused, not running");
  EXPECT_EQ(harness.invoke(Resume{.rollout = id}).as<Resume::Ok>(),
            (Resume::Ok{.rollout = id, .step = 1, .currentWeight = 1'000}));
  EXPECT_TRUE(harness.invoke(Pause{.rollout = RolloutId("none"), .reason = ""}).is<Pause::NotFound>());
  EXPECT_TRUE(harness.invoke(Resume{.rollout = RolloutId("none")}).is<Resume::NotFound>());
}

TEST_F(RolloutTest, OneJudgeIsOpenAtATime) {
  RolloutId id = moved(wish());
  EXPECT_TRUE(harness.invoke(Judge{.rollout = id, .step = 2}).is<Judge::Stale>());
  harness.answer_with(lang::Completion{"ok", {}});
  EXPECT_EQ(harness.invoke(Judge{.rollout = id, .step = 1}).as<Judge::Ok>(), (Judge::Ok{.rollout = id, .step = 1}));
  EXPECT_FALSE(record(id).judging);
  harness.answer_with(Judge::Unhealthy{.rollout = id, .reason = "worse"});
  EXPECT_EQ(harness.invoke(Judge{.rollout = id, .step = 1}).as<Judge::Unhealthy>().reason, "worse");
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody"});
  EXPECT_EQ(harness.invoke(Judge{.rollout = id, .step = 1}).as<Judge::Undecided>().reason, "nobody");
  Begin hurried = wish("r3");
  hurried.deployment = "d2";
  hurried.progressDeadline = 60;
  RolloutId other = moved(hurried);
  harness.answer_with(lang::Completion{"overdue", {}});
  EXPECT_EQ(harness.invoke(Judge{.rollout = other, .step = 1}).as<Judge::Overdue>().reason,
            "it has not moved from step 1 for 1m");
}

TEST_F(RolloutTest, AbortGivesBackWhatWas) {
  RolloutId id = begin(wish());
  harness.invoke(Prepare{.rollout = id, .entries = {{"r1", 7'000}, {"r2", 1'000}, {"r0", 2'000}}}).as<Prepare::Ok>();
  step(id);
  auto back = harness.invoke(Abort{.rollout = id, .reason = "worse"}).as<Abort::Ok>();
  EXPECT_EQ(back.move, "home");
  EXPECT_EQ(back.entries, (Entries{{"r1", 8'000}, {"r0", 2'000}}));
  EXPECT_TRUE(harness.invoke(Abort{.rollout = id}).is<Abort::Returning>());
  EXPECT_TRUE(harness.invoke(Advance{.rollout = id}).is<Advance::Stale>());
  EXPECT_EQ(harness.invoke(Returned{.rollout = id}).as<Returned::Ok>().reason, "worse");
  EXPECT_TRUE(harness.invoke(Returned{.rollout = id}).is<Returned::Stale>());
  EXPECT_EQ(record(id).status, RolloutStatus::aborted);
  EXPECT_EQ(harness.invoke(Abort{.rollout = id}).as<Abort::AlreadyComplete>().message, "it is aborted already");
  EXPECT_TRUE(harness.invoke(Abort{.rollout = RolloutId("none")}).is<Abort::NotFound>());
  EXPECT_TRUE(harness.invoke(Retry{.rollout = id}).is<Retry::Ok>());
  EXPECT_EQ(record(id).status, RolloutStatus::due);
  EXPECT_EQ(record(id).attempt, 2);
  EXPECT_TRUE(harness.invoke(Retry{.rollout = id}).is<Retry::NotEnded>());
  EXPECT_TRUE(harness.invoke(Retry{.rollout = RolloutId("none")}).is<Retry::NotFound>());
}

TEST_F(RolloutTest, AbortCanGoBackStepByStep) {
  Begin ask = wish();
  ask.rollbackSeconds = 1;
  RolloutId id = moved(ask);
  step(id);
  auto first = harness.invoke(Abort{.rollout = id}).as<Abort::Ok>();
  EXPECT_EQ(first.move, "recede");
  EXPECT_EQ(first.entries, (Entries{{"r2", 1'000}, {"r1", 9'000}}));
  auto second = harness.invoke(Recede{.rollout = id}).as<Recede::Ok>();
  EXPECT_EQ(second.move, "home");
  EXPECT_EQ(second.entries, (Entries{{"r1", 10'000}}));
  harness.invoke(Returned{.rollout = id}).as<Returned::Ok>();
  EXPECT_TRUE(harness.invoke(Recede{.rollout = id}).is<Recede::Stale>());
}

TEST_F(RolloutTest, JudgingGoesOnAfterTheEndWithWhatIsHeldBack) {
  Begin ask = wish();
  ask.after = 60;
  ask.holdbackBps = 100;
  RolloutId id = moved(ask);
  EXPECT_TRUE(harness.invoke(Watch{.rollout = id}).is<Watch::Stale>()) << "the judge looks";
  step(id);
  EXPECT_EQ(step(id).entries, (Entries{{"r2", 9'900}, {"r1", 100}}));
  EXPECT_TRUE(harness.invoke(Advance{.rollout = id, .step = 3}).as<Advance::Complete>().watch);
  harness.answer_with(Watch::Unhealthy{.rollout = id, .reason = "worse"});
  EXPECT_TRUE(harness.invoke(Watch{.rollout = id}).is<Watch::Unhealthy>());
  EXPECT_EQ(record(id).reason, "") << "an abort says it";
  EXPECT_EQ(harness.invoke(Close{.rollout = id}).as<Close::Ok>().entries, (Entries{{"r2", 10'000}}));
  EXPECT_EQ(record(id).status, RolloutStatus::complete);
}

TEST_F(RolloutTest, WhatTurnsBadAfterTheEndReturnsToo) {
  Begin ask = wish();
  ask.after = 60;
  RolloutId id = prepared(ask);
  for (int i = 0; i < 3; ++i) step(id);
  harness.invoke(Advance{.rollout = id, .step = 3}).as<Advance::Complete>();
  RolloutId other = prepared([] {
    Begin more = wish("q2");
    more.deployment = "d2";
    more.after = 60;
    return more;
  }());
  for (int i = 0; i < 3; ++i) step(other);
  harness.invoke(Advance{.rollout = other, .step = 3}).as<Advance::Complete>();
  EXPECT_TRUE(harness.invoke(Close{.rollout = other}).is<Close::Closed>());
  EXPECT_EQ(harness.invoke(Abort{.rollout = id}).as<Abort::Ok>().entries, (Entries{{"r1", 10'000}}));
}

TEST_F(RolloutTest, AGroupAdvancesAndReturnsTogether) {
  std::vector<RolloutId> all;
  for (int i = 1; i <= 3; ++i) {
    Begin ask = wish();
    ask.deployment = "d" + std::to_string(i);
    ask.group = "shop";
    ask.place = i;
    all.push_back(moved(ask));
  }
  EXPECT_EQ(harness.invoke(Advance{.rollout = all[0], .step = 1}).as<Advance::Waiting>().message,
            "waits for the other rollouts of shop to pass step 1");
  EXPECT_TRUE(harness.invoke(Advance{.rollout = all[1], .step = 1}).is<Advance::Waiting>());
  EXPECT_TRUE(harness.invoke(Advance{.rollout = all[2], .step = 1}).is<Advance::Ok>());
  EXPECT_TRUE(harness.invoke(Advance{.rollout = all[0], .step = 1}).is<Advance::Ok>());
  EXPECT_TRUE(harness.invoke(Advance{.rollout = all[1], .step = 1}).is<Advance::Ok>());
  for (size_t place = 3; place > 0; --place) {
    auto next = harness.invoke(NextBack{.rollout = all[1], .reason = "worse"}).as<NextBack::Abort>();
    EXPECT_EQ(next.other, all[place - 1]) << "those that depend on others first";
    harness.invoke(Abort{.rollout = next.other, .reason = next.reason}).as<Abort::Ok>();
    harness.invoke(Returned{.rollout = next.other}).as<Returned::Ok>();
  }
  EXPECT_TRUE(harness.invoke(NextBack{.rollout = all[1], .reason = "worse"}).is<NextBack::Ok>());
}

TEST_F(RolloutTest, WithoutAnotherRevisionItHasEverythingAtOnce) {
  RolloutId id = begin(wish());
  harness.invoke(Prepare{.rollout = id}).as<Prepare::Ok>();
  auto only = step(id);
  EXPECT_EQ(only.move, "finish");
  EXPECT_EQ(only.entries, (Entries{{"r2", 10'000}}));
}

}  // namespace rollout_moves_test
}  // namespace sluice::deploy::rollout
