// Threads that grow on demand, attempts that a test runs itself, and whose turn it is.
#include "engine/effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <thread>

#include "engine/testing_engine.h"

namespace sluice::engine {
namespace effects_test {

using testing::ElementsAre;

TEST(EffectThreads, GrowUntilEveryBlockingJobHasItsOwn) {
  constexpr int kJobs = 20;
  std::latch all_begun(kJobs);
  std::latch done(kJobs);
  EffectThreads threads(kJobs);
  EXPECT_EQ(threads.threads(), 0U);
  for (int i = 0; i < kJobs; ++i) {
    threads.launch({[&] {
      all_begun.arrive_and_wait();  // no job ends before all have begun
      done.count_down();
    }});
  }
  done.wait();
  EXPECT_EQ(threads.threads(), static_cast<size_t>(kJobs));
}

TEST(EffectThreads, AskBeforeEachJobWhetherItMayBegin) {
  std::atomic<int> asked = 0, begun = 0;
  std::latch done(2);
  {
    EffectThreads threads(1, nullptr, [&] { ++asked; });
    for (int i = 0; i < 2; ++i) {
      threads.launch({[&] {
        EXPECT_EQ(asked, ++begun);
        done.count_down();
      }});
    }
    done.wait();
  }
  EXPECT_EQ(asked, 2);
}

TEST(EffectThreads, GrowNoFurtherThanTheyMay) {
  std::latch two_begun(2);
  std::latch release(1);
  std::latch done(3);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  EffectThreads threads(2);
  for (int i = 0; i < 3; ++i) {
    threads.launch({[&, i] {
      most = std::max<int>(most, ++running);
      if (i < 2) two_begun.count_down();
      release.wait();
      --running;
      done.count_down();
    }});
  }
  two_begun.wait();
  EXPECT_EQ(threads.threads(), 2U);
  release.count_down();
  done.wait();
  EXPECT_EQ(threads.threads(), 2U);
  EXPECT_EQ(most, 2);
}

TEST(EffectThreads, TakeJobsAfterAllHaveBeenIdle) {
  EffectThreads threads(4);
  for (int round = 0; round < 50; ++round) {
    std::latch done(4);
    for (int i = 0; i < 4; ++i) threads.launch({[&] { done.count_down(); }});
    done.wait();
  }
  EXPECT_LE(threads.threads(), 4U);
}

TEST(EffectThreads, TellAfterEachJobWhetherAnotherWaits) {
  std::vector<bool> told;
  {
    std::promise<void> done;
    EffectThreads threads(1, [&](bool idle) {
      told.push_back(idle);
      if (told.size() == 3) done.set_value();
    });
    threads.launch_all(std::vector<Job>(3, Job{[] {}}));
    done.get_future().wait();
  }
  EXPECT_EQ(told, (std::vector<bool>{false, false, true}));
}

TEST(EffectThreads, LeaveWhatComesOfAJobToItsThread) {
  std::promise<std::thread::id> first, second;
  EffectThreads* all = nullptr;
  bool more = true;
  EffectThreads threads(4, [&](bool) {
    if (std::exchange(more, false)) all->launch({[&] { second.set_value(std::this_thread::get_id()); }});
  });
  all = &threads;
  threads.launch({[&] { first.set_value(std::this_thread::get_id()); }});
  EXPECT_EQ(first.get_future().get(), second.get_future().get());
  EXPECT_EQ(threads.threads(), 1U);
}

TEST(EffectThreads, EndOnlyAfterTheJobsUnderWay) {
  std::atomic<bool> finished = false;
  auto begun = std::make_shared<std::latch>(1);
  {
    EffectThreads threads;
    threads.launch({[&, begun] {
      begun->count_down();
      for (int i = 0; i < 10'000; ++i) std::this_thread::yield();
      finished = true;
    }});
    begun->wait();
  }
  EXPECT_TRUE(finished);
}

TEST(EffectQueue, RunsAnAttemptOnlyWhenItIsTold) {
  EffectQueue queue;
  std::string ran;
  for (const char* name : {"a", "b", "c"}) queue.launch({[&ran, name] { ran += name; }});
  EXPECT_EQ(ran, "");
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_FALSE(queue.run(3));
  EXPECT_TRUE(queue.run(1));
  EXPECT_TRUE(queue.run());
  EXPECT_TRUE(queue.run());
  EXPECT_FALSE(queue.run());
  EXPECT_EQ(ran, "bac");
}

TEST(EffectQueue, ForgetsWhatACrashForgets) {
  EffectQueue queue;
  bool ran = false;
  queue.launch({[&] { ran = true; }});
  queue.drop_all();
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_FALSE(queue.run());
  EXPECT_FALSE(ran);
}

TEST(EffectQueue, AnAttemptMayLaunchAnother) {
  EffectQueue queue;
  int ran = 0;
  queue.launch({[&] {
    ++ran;
    queue.launch({[&] { ++ran; }});
  }});
  EXPECT_TRUE(queue.run());
  EXPECT_TRUE(queue.run());
  EXPECT_EQ(ran, 2);
}

// The numbers of the invocations that may run now, in order.
std::vector<int64_t> take_all(EffectSlots& slots, size_t most = 100) {
  std::vector<int64_t> taken;
  while (auto next = slots.take(most)) taken.push_back(next->invocation.wall_ms());
  return taken;
}

TEST(EffectSlots, FlowsTakeTurnsAndTheOldestOfAFlowIsFirst) {
  EffectSlots slots;
  for (int64_t id : {11, 12, 13}) slots.push(0, test_id(1), test_id(id));
  for (int64_t id : {21, 22}) slots.push(0, test_id(2), test_id(id));
  slots.push(0, test_id(3), test_id(31));
  EXPECT_THAT(take_all(slots), ElementsAre(11, 21, 31, 12, 22, 13));
}

TEST(EffectSlots, ConceptsTakeTurns) {
  EffectSlots slots;
  for (int64_t id : {11, 12, 13}) slots.push(1, test_id(1), test_id(id));
  for (int64_t id : {21, 22}) slots.push(2, test_id(1), test_id(id));
  slots.push(0, test_id(1), test_id(31));
  EXPECT_THAT(take_all(slots), ElementsAre(31, 11, 21, 12, 22, 13));
}

TEST(EffectSlots, AFlowThatComesLaterNeedNotWaitForALongOne) {
  EffectSlots slots;
  slots.set_limit(0, 1);
  for (int64_t id : {11, 12, 13}) slots.push(0, test_id(1), test_id(id));
  EXPECT_EQ(slots.take(100)->invocation, test_id(11));
  slots.push(0, test_id(2), test_id(21));
  slots.release(0);
  auto next = slots.take(100);
  EXPECT_EQ(next->flow, test_id(2));
  EXPECT_EQ(next->invocation, test_id(21));
}

TEST(EffectSlots, AConceptHasNoMoreUnderWayThanItsLimit) {
  EffectSlots slots;
  slots.set_limit(0, 2);
  for (int64_t id : {11, 12, 13}) slots.push(0, test_id(1), test_id(id));
  slots.push(1, test_id(1), test_id(14));
  EXPECT_THAT(take_all(slots), ElementsAre(11, 14, 12));
  slots.release(1);
  EXPECT_THAT(take_all(slots), ElementsAre());
  slots.release(0);
  EXPECT_THAT(take_all(slots), ElementsAre(13));
}

TEST(EffectSlots, AConceptWithoutALimitHas32) {
  EffectSlots slots;
  for (int64_t id = 0; id < 40; ++id) slots.push(0, test_id(1), test_id(id));
  EXPECT_EQ(take_all(slots).size(), 32U);
}

TEST(EffectSlots, AllConceptsTogetherHaveNoMoreThanThereAreThreads) {
  EffectSlots slots;
  slots.push(0, test_id(1), test_id(11));
  slots.push(1, test_id(1), test_id(12));
  slots.push(2, test_id(1), test_id(13));
  EXPECT_THAT(take_all(slots, 2), ElementsAre(11, 12));
  slots.release(0);
  EXPECT_THAT(take_all(slots, 2), ElementsAre(13));
}

TEST(EffectSlots, AReleaseThatDidNotHappenIsHeldAgain) {
  EffectSlots slots;
  slots.set_limit(0, 1);
  slots.push(0, test_id(1), test_id(11));
  slots.push(0, test_id(1), test_id(12));
  EXPECT_THAT(take_all(slots), ElementsAre(11));
  slots.release(0);
  slots.hold(0);
  EXPECT_THAT(take_all(slots), ElementsAre());
}

TEST(EffectSlots, ForgettingWhoWaitsKeepsWhatIsUnderWay) {
  EffectSlots slots;
  slots.set_limit(0, 1);
  slots.push(0, test_id(1), test_id(11));
  slots.push(0, test_id(1), test_id(12));
  EXPECT_THAT(take_all(slots), ElementsAre(11));
  slots.forget_waiting();
  slots.push(0, test_id(1), test_id(13));
  EXPECT_THAT(take_all(slots), ElementsAre());
  slots.release(0);
  EXPECT_THAT(take_all(slots), ElementsAre(13));
}

}  // namespace effects_test
}  // namespace sluice::engine
