// Traffic through the harness: one test a variant, and its history as an algebra. What needs guards is tested on the
// kit.
#include <gtest/gtest.h>

#include <random>

#include "lang/run/harness.h"
#include "traffic.gen.h"

namespace sluice::deploy::traffic {
namespace traffic_test {

const TrafficId kShop("d1");
using Entries = std::vector<TrafficEntry>;

class TrafficTest : public testing::Test {
 protected:
  lang::Invoked<Set> set(const Entries& entries) {
    return harness.invoke(Set{.deployment = kShop, .entries = entries, .caller = "ann"});
  }
  Entries entries() { return State(harness.rows()).entries(kShop).values(); }
  std::string refused(const Entries& wrong) { return set(wrong).as<Set::InvalidSplit>().message; }
  lang::Invoked<Rollback> back(int64_t steps = 1) {
    return harness.invoke(Rollback{.deployment = kShop, .steps = steps});
  }
  lang::Invoked<Forward> ahead(int64_t steps = 1) {
    return harness.invoke(Forward{.deployment = kShop, .steps = steps});
  }

  void move(const std::string& rollout, const Entries& entries, const std::string& why) {
    harness.invoke(Move{.deployment = kShop, .entries = entries, .rollout = rollout, .why = why}).as<Move::Ok>();
  }

  lang::Harness harness{traffic_binding()};
};

TEST_F(TrafficTest, SetOkCountsGenerations) {
  const Entries split = {{"r1", 9900}, {"r2", 100}};
  EXPECT_EQ(set(split).as<Set::Ok>(), (Set::Ok{.deployment = kShop, .generation = 1, .entries = split}));
  EXPECT_EQ(set({{"r2", 10'000}, {"r1", 0}}).as<Set::Ok>().generation, 2);
  EXPECT_EQ(State(harness.rows()).get(kShop)->updatedBy, "ann");
  EXPECT_NE(State(harness.rows()).get(kShop)->authorization, "");
  EXPECT_NE(State(harness.rows()).get(kShop)->authorization,
            State(harness.rows()).past(kShop).values().back().authorization)
      << "each by its own request";
}

TEST_F(TrafficTest, LookOkAndNamedOkTellTheSplit) {
  EXPECT_TRUE(harness.invoke(Look{.deployment = kShop}).as<Look::Ok>().entries.empty());
  set({{"r1", 10'000}});
  set({{"r2", 9'000}, {"r1", 1'000}, {"r0", 0}});
  auto seen = harness.invoke(Look{.deployment = kShop}).as<Look::Ok>();
  EXPECT_EQ(seen.entries, entries());
  EXPECT_EQ(seen.stays, (std::vector<std::string>{"r2", "r1"}));
  EXPECT_EQ(harness.invoke(Named{.deployment = kShop}).as<Named::Ok>().revisions,
            (std::vector<std::string>{"r2", "r1", "r0"}));
}

TEST_F(TrafficTest, Greentic05OnlyWhatSumsToTenThousandIsASplit) {
  EXPECT_EQ(refused({}), "a split names one revision at least");
  EXPECT_EQ(refused({{"r1", 9999}}), "the weights sum to 9999 bps, not 10000");
  EXPECT_EQ(refused({{"r1", 5000}, {"r2", 5001}}), "the weights sum to 10001 bps, not 10000");
  EXPECT_EQ(refused({{"r1", 10'001}}), "r1 cannot get 10001 bps: a weight is 0 to 10000");
  EXPECT_EQ(refused({{"r1", 4'294'967'295}, {"r2", 10'001}}), "r1 cannot get 4294967295 bps: a weight is 0 to 10000");
  EXPECT_EQ(refused({{"r1", -1}, {"r2", 10'001}}), "r1 cannot get -1 bps: a weight is 0 to 10000");
  EXPECT_EQ(refused({{"r1", 5000}, {"r1", 5000}}), "r1 is named twice");
  Entries many;
  for (int i = 0; i < 101; ++i) many.push_back({"r" + std::to_string(i), i == 0 ? 10'000 : 0});
  EXPECT_EQ(refused(many), "a split names at most 100 revisions");
  EXPECT_TRUE(entries().empty());
  EXPECT_TRUE(set({{"r1", 9900}, {"r2", 100}}).is<Set::Ok>());
}

TEST_F(TrafficTest, ASplitThatDoesNotSumIsNeverWritten) {
  set({{"r1", 10'000}});
  set({{"r2", 10'000}});
  State state(harness.rows());
  state.past(kShop).push({.generation = 1, .entries = {{"r1", 5'000}}});  // as nobody but a defect would leave it
  EXPECT_EQ(back().engine().outcome, lang::EngineOutcome::fault);
  EXPECT_EQ(entries(), (Entries{{"r2", 10'000}}));
}

TEST_F(TrafficTest, Greentic15RollbackAndForwardWalkTheHistory) {
  for (int i = 1; i <= 4; ++i) set({{"r" + std::to_string(i), 10'000}}).as<Set::Ok>();
  EXPECT_EQ(back().as<Rollback::Ok>(),
            (Rollback::Ok{.deployment = kShop, .generation = 5, .entries = {{"r3", 10'000}}}));
  EXPECT_EQ(back(2).as<Rollback::Ok>().entries, (Entries{{"r1", 10'000}}));
  EXPECT_EQ(back().as<Rollback::NoPast>().message, "there is nothing to go back to");
  EXPECT_EQ(ahead(2).as<Forward::Ok>().entries, (Entries{{"r3", 10'000}}));
  EXPECT_EQ(ahead().as<Forward::Ok>().entries, (Entries{{"r4", 10'000}}));
  EXPECT_EQ(ahead().as<Forward::NoFuture>().message, "there is nothing to go forward to");
  EXPECT_EQ(State(harness.rows()).get(kShop)->generation, 8);
}

TEST_F(TrafficTest, AnAbortedRolloutIsNoStepBack) {
  set({{"r0", 10'000}}).as<Set::Ok>();
  set({{"r1", 10'000}}).as<Set::Ok>();
  move("o1", {{"r2", 2'000}, {"r1", 8'000}}, "rollout at step 1");
  move("o1", {{"r2", 5'000}, {"r1", 5'000}}, "rollout at step 2");
  move("o1", {{"r1", 10'000}}, "rollout aborted: it fails");
  auto log = State(harness.rows()).log(kShop).values();
  ASSERT_EQ(log.size(), 5U);
  EXPECT_EQ(log.back().by, "rollout");
  EXPECT_EQ(log.back().why, "rollout aborted: it fails");
  EXPECT_EQ(back(2).as<Rollback::NoPast>().message, "the history goes back only 1 step, not 2");
  EXPECT_EQ(back().as<Rollback::Ok>().entries, (Entries{{"r0", 10'000}}));
  EXPECT_EQ(ahead().as<Forward::Ok>().entries, (Entries{{"r1", 10'000}}));
}

TEST_F(TrafficTest, ACompleteRolloutIsOneStepBack) {
  set({{"r1", 10'000}}).as<Set::Ok>();
  for (int64_t weight : {2'000, 5'000}) move("o1", {{"r2", weight}, {"r1", 10'000 - weight}}, "");
  move("o1", {{"r2", 10'000}}, "");
  move("o2", {{"r3", 2'000}, {"r2", 8'000}}, "");
  move("o2", {{"r3", 10'000}}, "");
  EXPECT_EQ(back().as<Rollback::Ok>().entries, (Entries{{"r2", 10'000}}));
  EXPECT_EQ(back().as<Rollback::Ok>().entries, (Entries{{"r1", 10'000}}));
  EXPECT_EQ(ahead(2).as<Forward::Ok>().entries, (Entries{{"r3", 10'000}}));
}

TEST_F(TrafficTest, NothingLeadsBackToWhereARolloutWasLeft) {
  set({{"r1", 10'000}}).as<Set::Ok>();
  move("o1", {{"r2", 2'000}, {"r1", 8'000}}, "");
  move("o2", {{"r3", 1'000}, {"r1", 9'000}}, "");
  EXPECT_EQ(back().as<Rollback::Ok>().entries, (Entries{{"r1", 10'000}}));
  EXPECT_TRUE(ahead().is<Forward::NoFuture>());
  move("o3", {{"r2", 2'000}, {"r1", 8'000}}, "");
  set({{"r4", 10'000}}).as<Set::Ok>();
  EXPECT_EQ(back().as<Rollback::Ok>().entries, (Entries{{"r1", 10'000}}));
}

TEST_F(TrafficTest, APreviewOfARolloutIsNoStepBack) {
  set({{"r1", 10'000}}).as<Set::Ok>();
  move("o1", {{"r2", 0}, {"r1", 10'000}}, "");
  EXPECT_TRUE(back().is<Rollback::NoPast>());
  move("o1", {{"r2", 10'000}}, "");
  EXPECT_EQ(back().as<Rollback::Ok>().entries, (Entries{{"r2", 0}, {"r1", 10'000}}));
}

TEST_F(TrafficTest, MoveRefusesWhatIsNoSplit) {
  EXPECT_EQ(harness.invoke(Move{.deployment = kShop, .entries = {{"r1", 9'000}}, .rollout = "o1", .why = ""})
                .as<Move::InvalidSplit>()
                .message,
            refused({{"r1", 9'000}}));
}

TEST_F(TrafficTest, ASetForgetsWhatWasAhead) {
  for (int i = 1; i <= 3; ++i) set({{"r" + std::to_string(i), 10'000}}).as<Set::Ok>();
  back().as<Rollback::Ok>();
  set({{"r9", 10'000}}).as<Set::Ok>();
  EXPECT_TRUE(ahead().is<Forward::NoFuture>());
  EXPECT_EQ(back().as<Rollback::Ok>().entries, (Entries{{"r2", 10'000}}));
}

TEST_F(TrafficTest, FiftySplitsAreKept) {
  for (int i = 0; i < 60; ++i) set({{"r" + std::to_string(i), 10'000}}).as<Set::Ok>();
  EXPECT_EQ(back(51).as<Rollback::NoPast>().message, "the history goes back only 50 steps, not 51");
  EXPECT_EQ(back(50).as<Rollback::Ok>().entries, (Entries{{"r9", 10'000}}));
}

TEST_F(TrafficTest, StepsAreOneAtLeast) {
  set({{"r1", 10'000}}).as<Set::Ok>();
  set({{"r2", 10'000}}).as<Set::Ok>();
  EXPECT_EQ(back(0).as<Rollback::NoPast>().message, "expected one step or more");
  EXPECT_EQ(back(2).as<Rollback::NoPast>().message, "the history goes back only 1 step, not 2");
  EXPECT_TRUE(ahead(-1).is<Forward::NoFuture>());
}

TEST_F(TrafficTest, WhatNeverHadASplitIsNotFound) {
  EXPECT_TRUE(back().is<Rollback::NotFound>());
  EXPECT_TRUE(ahead().is<Forward::NotFound>());
  EXPECT_EQ(harness.invoke(Clear{.deployment = kShop}).as<Clear::NoSplit>().message, "d1 has no split");
}

TEST_F(TrafficTest, ClearOkCanBeRolledBack) {
  set({{"r1", 10'000}}).as<Set::Ok>();
  EXPECT_EQ(harness.invoke(Clear{.deployment = kShop}).as<Clear::Ok>().generation, 2);
  EXPECT_TRUE(entries().empty());
  EXPECT_TRUE(harness.invoke(Clear{.deployment = kShop}).is<Clear::NoSplit>());
  EXPECT_EQ(back().as<Rollback::Ok>().entries, (Entries{{"r1", 10'000}}));
}

TEST_F(TrafficTest, DropTakesAnEntryWithoutWeightAlone) {
  set({{"r1", 10'000}, {"r2", 0}}).as<Set::Ok>();
  harness.invoke(Drop{.deployment = kShop, .revision = "r1"}).as<Drop::Ok>();
  EXPECT_EQ(entries().size(), 2U);
  harness.invoke(Drop{.deployment = kShop, .revision = "r2"}).as<Drop::Ok>();
  EXPECT_EQ(entries(), (Entries{{"r1", 10'000}}));
  EXPECT_EQ(State(harness.rows()).get(kShop)->generation, 2);
}

TEST_F(TrafficTest, DropTakesItOutOfTheSplitsBeforeAndAfterToo) {
  set({{"r1", 10'000}, {"r2", 0}}).as<Set::Ok>();
  set({{"r1", 4'000}, {"r2", 6'000}}).as<Set::Ok>();
  set({{"r1", 10'000}}).as<Set::Ok>();
  harness.invoke(Drop{.deployment = kShop, .revision = "r2"}).as<Drop::Ok>();
  EXPECT_EQ(State(harness.rows()).get(kShop)->generation, 3) << "what everybody gets is the same";
  EXPECT_EQ(back().as<Rollback::Ok>().entries, (Entries{{"r1", 4'000}, {"r2", 6'000}})) << "what had weight stays";
  EXPECT_EQ(back().as<Rollback::Ok>().entries, (Entries{{"r1", 10'000}}));
}

TEST_F(TrafficTest, ForgetLeavesNothing) {
  set({{"r1", 10'000}}).as<Set::Ok>();
  harness.invoke(Forget{.deployment = kShop}).as<Forget::Ok>();
  EXPECT_TRUE(back().is<Rollback::NotFound>());
}

TEST_F(TrafficTest, ShiftOkGivesAShareAndLeavesTheRestInProportion) {
  auto shift = [&](const char* revision, int64_t weight_bps) {
    return harness.invoke(Shift{.deployment = kShop, .revision = revision, .weightBps = weight_bps, .by = "ann"});
  };
  EXPECT_EQ(shift("r1", 500).as<Shift::Ok>().entries, (Entries{{"r1", 10'000}})) << "nobody else is there";
  auto canary = shift("r2", 2'500).as<Shift::Ok>();
  EXPECT_EQ(canary.entries, (Entries{{"r2", 2'500}, {"r1", 7'500}}));
  EXPECT_EQ(shift("r3", 3'333).as<Shift::Ok>().entries, (Entries{{"r3", 3'333}, {"r2", 1'667}, {"r1", 5'000}}));
  EXPECT_EQ(shift("r3", 3'333).as<Shift::Unchanged>().entries.size(), 3U);
  auto whole = shift("r3", 10'000).as<Shift::Ok>();
  EXPECT_EQ(whole.entries, (Entries{{"r3", 10'000}}));
  EXPECT_EQ(whole.stays, (std::vector<std::string>{"r3", "r2", "r1"})) << "those before the last change stay";
  EXPECT_EQ(shift("r3", 400).as<Shift::Unchanged>().entries, (Entries{{"r3", 10'000}})) << "it has everything";
  EXPECT_EQ(back().as<Rollback::Ok>().entries, (Entries{{"r3", 3'333}, {"r2", 1'667}, {"r1", 5'000}}));
}

TEST_F(TrafficTest, ShiftKeepsTheLastTenThatServed) {
  std::vector<std::string> kept;
  for (int i = 1; i <= 12; ++i) {
    kept = harness.invoke(Shift{.deployment = kShop, .revision = "r" + std::to_string(i), .weightBps = 10'000})
               .as<Shift::Ok>()
               .kept;
  }
  EXPECT_EQ(kept, (std::vector<std::string>{"r12", "r11", "r10", "r9", "r8", "r7", "r6", "r5", "r4", "r3"}));
}

TEST_F(TrafficTest, ShiftRefusesWhatIsNoShare) {
  EXPECT_EQ(
      harness.invoke(Shift{.deployment = kShop, .revision = "r1", .weightBps = -1}).as<Shift::InvalidSplit>().message,
      "r1 cannot get -1 bps of a shift: a share is 0 to 10000");
}

TEST_F(TrafficTest, ShiftTakesAShareAwayIfSomebodyElseHasTheRest) {
  auto nothing = [&] { return harness.invoke(Shift{.deployment = kShop, .revision = "r2", .weightBps = 0}); };
  set({{"r1", 7'000}, {"r2", 3'000}}).as<Set::Ok>();
  EXPECT_EQ(nothing().as<Shift::Ok>().entries, (std::vector<TrafficEntry>{{"r1", 10'000}}));
  set({{"r2", 10'000}}).as<Set::Ok>();
  EXPECT_TRUE(nothing().is<Shift::Unchanged>()) << "nobody else could take it";
}

TEST_F(TrafficTest, FindBackNamesThoseOfAnEarlierSplit) {
  auto find = [&](int64_t steps) { return harness.invoke(FindBack{.deployment = kShop, .steps = steps}); };
  EXPECT_EQ(find(1).as<FindBack::NoPast>().message, "there is nothing to go back to");
  set({{"r1", 10'000}, {"r2", 0}}).as<Set::Ok>();
  set({{"r2", 10'000}}).as<Set::Ok>();
  set({{"r3", 10'000}}).as<Set::Ok>();
  EXPECT_EQ(find(1).as<FindBack::Ok>().revisions, std::vector<std::string>{"r2"});
  EXPECT_EQ(find(2).as<FindBack::Ok>().revisions, (std::vector<std::string>{"r1", "r2"}));
}

TEST_F(TrafficTest, FirstWeek10TheLogIsOnlyAddedTo) {
  set({{"r1", 10'000}, {"r2", 0}}).as<Set::Ok>();
  set({{"r2", 10'000}}).as<Set::Ok>();
  back().as<Rollback::Ok>();
  ahead().as<Forward::Ok>();
  harness.invoke(Clear{.deployment = kShop, .caller = "ben"}).as<Clear::Ok>();
  set({{"r1", 0}, {"r3", 10'000}}).as<Set::Ok>();
  harness.invoke(Drop{.deployment = kShop, .revision = "r1"}).as<Drop::Ok>();
  std::string log;
  for (const TrafficLogItem& each : State(harness.rows()).log(kShop).values()) {
    log += std::to_string(each.generation) + " " + each.by + " " + each.why + ":";
    for (const TrafficEntry& entry : each.entries) log += " " + entry.revision + "=" + std::to_string(entry.weightBps);
    log += "\n";
  }
  EXPECT_EQ(log,
            "1 ann set: r1=10000 r2=0\n2 ann set: r2=10000\n3  rollback of 1: r1=10000 r2=0\n"
            "4  forward by 1: r2=10000\n5 ben clear:\n6 ann set: r1=0 r3=10000\n"
            "7  r1 can no longer serve: r3=10000\n");
}

TEST_F(TrafficTest, WhatAnEarlierVersionWroteComesFirstInTheLog) {
  State state(harness.rows());
  state.put(kShop, {.generation = 2, .updatedBy = "eve"});
  state.entries(kShop).push({"r2", 10'000});
  state.past(kShop).push({.generation = 1, .entries = {{"r1", 10'000}}});
  set({{"r3", 10'000}}).as<Set::Ok>();
  auto log = state.log(kShop).values();
  ASSERT_EQ(log.size(), 3U);
  EXPECT_EQ(log[0].entries, (Entries{{"r1", 10'000}}));
  EXPECT_EQ(log[1].by, "eve");
  EXPECT_EQ(log[2].generation, 3);
}

}  // namespace traffic_test
}  // namespace sluice::deploy::traffic
