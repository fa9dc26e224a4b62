// Rolling through the harness: how many replicas of each revision a step needs, and what comes next.
#include "deploy/concepts/rollout/rollout_replicas.h"

#include <gmock/gmock.h>

#include "deploy/concepts/rollout/testing_rollout.h"

namespace sluice::deploy::rollout {
namespace rollout_replicas_test {

using testing::ElementsAre;
using Entries = std::vector<RolloutEntry>;

class RollingTest : public RolloutTest {
 protected:
  static Begin rolling(int64_t batch = 1) {
    return {.deployment = "d1", .revision = "r2", .strategy = "rolling", .batch = batch, .batchPause = 5};
  }
  // Counted: so many old replicas, so many new ones.
  RolloutId sized(const Begin& ask, int64_t old_replicas = 2, int64_t new_replicas = 2) {
    RolloutId id = begin(ask);
    auto size = harness.invoke(Prepare{.rollout = id, .entries = {{"r1", 10'000}}}).as<Prepare::Size>();
    EXPECT_EQ(size, (Prepare::Size{.rollout = id, .oldRevision = "r1", .newRevision = "r2"}));
    EXPECT_TRUE(harness.invoke(Size{.rollout = id, .revision = "r1", .replicas = old_replicas}).is<Size::Waiting>());
    EXPECT_TRUE(harness.invoke(Size{.rollout = id, .revision = "r2", .replicas = new_replicas}).is<Size::Ok>());
    return id;
  }
  auto done(const RolloutId& id, const std::string& revision, int64_t replicas) {
    harness.answer_with(Resize::Ok{.rollout = id});
    return harness.invoke(Resize{.rollout = id, .revision = revision, .replicas = replicas});
  }
  auto failed(const RolloutId& id, const std::string& revision, int64_t replicas) {
    harness.answer_with(Resize::Failed{.rollout = id, .reason = "no memory"});
    return harness.invoke(Resize{.rollout = id, .revision = revision, .replicas = replicas});
  }
  // At its second step, with two new replicas and one old one that is left.
  RolloutId at_second_step() {
    RolloutId id = sized(rolling());
    step(id);
    harness.invoke(Shrink{.rollout = id}).as<Shrink::Scale>();
    done(id, "r2", 1);
    harness.invoke(Advance{.rollout = id, .step = 1}).as<Advance::Scale>();
    EXPECT_TRUE(done(id, "r2", 2).is<Resize::Ok>());
    harness.invoke(Shrink{.rollout = id}).as<Shrink::Scale>();
    EXPECT_TRUE(done(id, "r1", 1).is<Resize::Stale>());
    return id;
  }
};

TEST(RollingSizes, NeverRunFewerThanBefore) {
  for (int64_t n : {1, 2, 3, 5, 8}) {
    for (int64_t m : {1, 2, 5, 9}) {
      for (int64_t k : {1, 2, 3, 10}) {
        const auto sizes = rolling_sizes(n, m, k);
        ASSERT_EQ(sizes.back().newReplicas, m);
        int64_t weight = 0;
        for (const RolloutSize& each : sizes) {
          EXPECT_GE(each.newReplicas + each.oldReplicas, n) << n << " " << m << " " << k;
          EXPECT_LE(each.newReplicas + each.oldReplicas, std::max(n, m) + k);
          EXPECT_GT(weight_of(each), weight) << "weights rise";
          weight = weight_of(each);
        }
        EXPECT_LT(weight, 10'000);
      }
    }
  }
  EXPECT_THAT(rolling_sizes(4, 4, 2), ElementsAre(RolloutSize{2, 4}, RolloutSize{4, 2}));
  EXPECT_EQ(weight_of({.newReplicas = 2, .oldReplicas = 4}), 3'333);
}

TEST_F(RollingTest, StepsAreMadeOfReplicas) {
  RolloutId id = sized(rolling(), 4, 4);
  std::vector<int64_t> weights;
  for (const RolloutStep& each : State(harness.rows()).steps(id).values()) weights.push_back(each.weightBps);
  EXPECT_THAT(weights, ElementsAre(2'000, 4'000, 6'000, 8'000, 10'000));
  EXPECT_EQ(State(harness.rows()).steps(id).values().front().pauseSeconds, 5);
  step(id);
  EXPECT_TRUE(harness.invoke(Size{.rollout = id, .revision = "r1", .replicas = 4}).is<Size::Stale>());
}

TEST_F(RollingTest, ReplicasComeBeforeTrafficAndGoAfterIt) {
  RolloutId id = sized(rolling());
  EXPECT_EQ(step(id).entries, (Entries{{"r2", 3'333}, {"r1", 6'667}})) << "those it was warmed with are enough";
  EXPECT_EQ(record(id).newCap, 1) << "routers let go of those that are too many";
  EXPECT_EQ(harness.invoke(Shrink{.rollout = id}).as<Shrink::Scale>(),
            (Shrink::Scale{.rollout = id, .revision = "r2", .replicas = 1}));
  EXPECT_TRUE(harness.invoke(Shrink{.rollout = id}).is<Shrink::Stale>()) << "one at a time";
  EXPECT_TRUE(done(id, "r2", 1).is<Resize::Stale>());
  EXPECT_FALSE(record(id).newCap) << "the registry knows by now";
  EXPECT_EQ(harness.invoke(Advance{.rollout = id, .step = 1}).as<Advance::Scale>(),
            (Advance::Scale{.rollout = id, .revision = "r2", .replicas = 2}));
  EXPECT_EQ(done(id, "r2", 2).as<Resize::Ok>(),
            (Resize::Ok{.rollout = id, .step = 2, .move = "judge", .entries = {{"r2", 6'666}, {"r1", 3'334}}}));
  // Step 2 keeps both old ones until the routers obey.
  EXPECT_EQ(record(id).oldRuns, 2);
}

TEST_F(RollingTest, TheLastStepHasAllTraffic) {
  RolloutId id = at_second_step();
  auto last = harness.invoke(Advance{.rollout = id, .step = 2}).as<Advance::Ok>();
  EXPECT_EQ(last.move, "finish");
  EXPECT_EQ(last.entries, (Entries{{"r2", 10'000}}));
  EXPECT_TRUE(harness.invoke(Shrink{.rollout = id}).is<Shrink::Stale>());
  EXPECT_FALSE(harness.invoke(Advance{.rollout = id, .step = 3}).as<Advance::Complete>().watch);
}

TEST_F(RollingTest, WhatIsAskedMeanwhileHappensWhenReplicasAreThere) {
  RolloutId id = sized(rolling());
  step(id);
  harness.invoke(Shrink{.rollout = id}).as<Shrink::Scale>();
  EXPECT_TRUE(harness.invoke(Advance{.rollout = id, .step = 1}).is<Advance::Scaling>());
  EXPECT_EQ(done(id, "r2", 1).as<Resize::Scale>(), (Resize::Scale{.rollout = id, .revision = "r2", .replicas = 2}));
  EXPECT_TRUE(harness.invoke(Pause{.rollout = id, .reason = "lunch"}).is<Pause::Ok>());
  EXPECT_TRUE(harness.invoke(Resume{.rollout = id}).is<Resume::Scaling>()) << "it is not there yet";
  harness.invoke(Pause{.rollout = id, .reason = "lunch"}).as<Pause::Ok>();
  EXPECT_TRUE(done(id, "r2", 2).is<Resize::Stale>()) << "traffic stays as it is";
  EXPECT_EQ(harness.invoke(Resume{.rollout = id}).as<Resume::Scale>(),
            (Resume::Scale{.rollout = id, .revision = "r2", .replicas = 2}));
  EXPECT_EQ(done(id, "r2", 2).as<Resize::Ok>().step, 2);
  harness.invoke(Pause{.rollout = id, .reason = "lunch"}).as<Pause::Ok>();
  EXPECT_TRUE(harness.invoke(Resume{.rollout = id}).is<Resume::Ok>()) << "traffic has followed";
}

TEST_F(RollingTest, AnAbortOfTheFirstStepIsImmediate) {
  RolloutId id = sized(rolling());
  step(id);
  EXPECT_EQ(harness.invoke(Abort{.rollout = id}).as<Abort::Ok>().entries, (Entries{{"r1", 10'000}}));
  EXPECT_FALSE(record(id).newCap);
}

TEST_F(RollingTest, AnAbortFirstStartsWhatWasReplaced) {
  RolloutId id = at_second_step();
  EXPECT_EQ(harness.invoke(Abort{.rollout = id, .reason = "worse"}).as<Abort::Scale>(),
            (Abort::Scale{.rollout = id, .revision = "r1", .replicas = 2}));
  EXPECT_EQ(done(id, "r1", 2).as<Resize::Ok>(),
            (Resize::Ok{.rollout = id, .step = 0, .move = "home", .entries = {{"r1", 10'000}}}));
  EXPECT_EQ(harness.invoke(Returned{.rollout = id}).as<Returned::Ok>().reason, "worse");
  // Again: it has as many as it had, whatever runs now.
  harness.invoke(Retry{.rollout = id}).as<Retry::Ok>();
  harness.invoke(Prepare{.rollout = id, .entries = {{"r1", 10'000}}}).as<Prepare::Size>();
  harness.invoke(Size{.rollout = id, .revision = "r1", .replicas = 2}).as<Size::Waiting>();
  harness.invoke(Size{.rollout = id, .revision = "r2", .replicas = 1}).as<Size::Ok>();
  EXPECT_EQ(State(harness.rows()).steps(id).values().size(), 3U);
}

TEST_F(RollingTest, AnAbortWaitsForReplicasThatAreOnTheirWay) {
  RolloutId id = at_second_step();
  harness.invoke(Advance{.rollout = id, .full = true}).as<Advance::Ok>();
  State(harness.rows()).edit(id, [](RolloutRecord& record) { record.scaling = true; });
  EXPECT_TRUE(harness.invoke(Abort{.rollout = id}).is<Abort::Scaling>());
  EXPECT_EQ(done(id, "r2", 2).as<Resize::Scale>().revision, "r1");
  EXPECT_EQ(
      failed(id, "r1", 2).as<Resize::Stuck>().reason,
      "traffic stays as it is: the old revision could not start the replicas again that were replaced: no memory");
  harness.invoke(Fail{.rollout = id, .message = "no memory"}).as<Fail::Ok>();
  EXPECT_TRUE(harness.invoke(Abort{.rollout = id}).is<Abort::Scale>()) << "it can be asked again";
}

TEST_F(RollingTest, WhatCannotGrowIsTold) {
  RolloutId id = sized(rolling());
  step(id);
  harness.invoke(Shrink{.rollout = id}).as<Shrink::Scale>();
  EXPECT_TRUE(failed(id, "r2", 1).is<Resize::Stale>()) << "what could not be stopped runs on";
  EXPECT_EQ(record(id).newCap, 1) << "and gets nothing";
  harness.invoke(Shrink{.rollout = id}).as<Shrink::Scale>();
  done(id, "r2", 1);
  harness.invoke(Advance{.rollout = id, .step = 1}).as<Advance::Scale>();
  EXPECT_EQ(failed(id, "r2", 2).as<Resize::Failed>().reason, "replicas could not be started: no memory");
  EXPECT_TRUE(harness.invoke(Resize{.rollout = RolloutId("none"), .revision = "r2"}).is<Resize::Stale>());
  EXPECT_TRUE(harness.invoke(Shrink{.rollout = RolloutId("none")}).is<Shrink::Stale>());
}

TEST_F(RollingTest, IsNeverSuperseded) {
  RolloutId id = sized(rolling());
  step(id);
  Begin next = wish("r3");
  next.concurrency = "supersede";
  RolloutId waits = begin(next);
  EXPECT_EQ(record(id).status, RolloutStatus::running) << "it has stopped replicas that the next one would need";
  EXPECT_EQ(record(waits).status, RolloutStatus::queued);
}

TEST_F(RollingTest, RefusesWhatDoesNotGoTogether) {
  auto with = [&](auto change) {
    Begin ask = rolling();
    change(ask);
    return refused(ask);
  };
  EXPECT_EQ(with([](Begin& ask) { ask.steps = std::vector<std::string>{"10%"}; }),
            "rolling makes its steps of the replicas; say with `batch` how many are replaced at a time");
  EXPECT_EQ(with([](Begin& ask) { ask.batch = 0; }), "a batch is 1 to 1000 replicas");
  EXPECT_EQ(with([](Begin& ask) { ask.rollbackSeconds = 5; }),
            "rolling returns at once, when the replaced replicas run again");
  EXPECT_EQ(with([](Begin& ask) { ask.scaleDownDelay = 5; }),
            "rolling stops the old replicas as it goes; it has no scaleDownDelay");
  EXPECT_EQ(with([](Begin& ask) { ask.progressDeadline = 5; }),
            "a batch stays longer than the progress deadline of 5s");
  EXPECT_EQ(with([](Begin& ask) { ask.strategy = "canary"; }), "a batch is of rolling alone");
}

}  // namespace rollout_replicas_test
}  // namespace sluice::deploy::rollout
