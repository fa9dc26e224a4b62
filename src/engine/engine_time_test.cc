// Recorded time while the system's clock is set forward and back, within a process and between two.
#include "engine/engine_time.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "engine/journal/step.h"
#include "store/memory_store.h"

namespace sluice::engine {
namespace engine_time_test {

constexpr int64_t kStart_ms = 1'900'000'000'000;
constexpr int64_t kMinute_ms = 60'000;
constexpr int64_t kHour_ms = 60 * kMinute_ms;
constexpr int64_t kYear_ms = 365 * 24 * kHour_ms;

struct EngineTimeTest : testing::Test {
  // A process: it goes on where the store is.
  std::unique_ptr<EngineTime> open() {
    Boot now{boot, clock.monotonic_ns() / 1'000'000};
    auto time = std::make_unique<EngineTime>(clock, now);
    auto snapshot = store.read();
    EXPECT_TRUE(time->resume(**snapshot));
    return time;
  }
  // What a commit does.
  void keep(EngineTime& time) {
    uint64_t seq = (*store.read())->position() + 1;
    Step step{.seq = seq, .at_ms = time.now_ms(), .kind = Step::Kind::clock};
    store::Batch batch{.journal = {{.seq = seq, .record = write_step(step, kFirstChain)}}};
    if (auto kept = time.take_unkept()) batch.meta.emplace_back(kTimeMeta, *kept);
    EXPECT_TRUE(store.commit(batch));
  }

  ManualClock clock{kStart_ms};
  store::MemoryStore store;
  std::string boot = "b1";
};

TEST_F(EngineTimeTest, IsTheClockAsLongAsThatRunsEvenly) {
  auto time = open();
  EXPECT_FALSE(time->tick());
  EXPECT_EQ(time->now_ms(), kStart_ms);
  clock.advance_ms(90'000);
  EXPECT_FALSE(time->tick());
  EXPECT_EQ(time->now_ms(), kStart_ms + 90'000);
  clock.set_wall_ms(clock.wall_ms() + 4 * kMinute_ms);  // as NTP does
  EXPECT_FALSE(time->tick());
  EXPECT_EQ(time->now_ms(), clock.wall_ms());
}

TEST_F(EngineTimeTest, RunsAtHalfSpeedWhileItIsAheadOfTheClock) {
  auto time = open();
  clock.set_wall_ms(kStart_ms - 2 * kHour_ms);
  EXPECT_TRUE(time->tick());
  EXPECT_EQ(*time->jump(), (ClockJump{kStart_ms, kStart_ms - 2 * kHour_ms, -2 * kHour_ms, false,
                                      "the system's clock went back by 2 h"}));
  EXPECT_EQ(time->now_ms(), kStart_ms);
  for (int i = 0; i < 1000; ++i) {  // however often it is looked at
    clock.advance_ms(1);
    time->tick();
  }
  EXPECT_EQ(time->now_ms(), kStart_ms + 500);
  EXPECT_EQ(time->steady_ms(), 1000);
  clock.advance_ms(4 * kHour_ms);
  EXPECT_TRUE(time->tick());
  EXPECT_TRUE(time->jump()->over);
  EXPECT_FALSE(time->is_apart());
  clock.advance_ms(kHour_ms);
  EXPECT_FALSE(time->tick());
  EXPECT_EQ(time->now_ms(), clock.wall_ms());
}

TEST_F(EngineTimeTest, RunsAtDoubleSpeedWhileTheClockIsFarAhead) {
  auto time = open();
  clock.set_wall_ms(kStart_ms + 2 * kYear_ms);
  EXPECT_TRUE(time->tick());
  EXPECT_EQ(time->jump()->what, "the system's clock went forward by 730 d");
  EXPECT_EQ(time->now_ms(), kStart_ms);
  EXPECT_TRUE(time->holds_retention());
  clock.advance_ms(10 * kMinute_ms);
  EXPECT_FALSE(time->tick());
  EXPECT_EQ(time->now_ms(), kStart_ms + 20 * kMinute_ms);
  clock.set_wall_ms(kStart_ms + 10 * kMinute_ms);  // the clock is right again: ten minutes to catch up with
  EXPECT_FALSE(time->tick());
  clock.advance_ms(20 * kMinute_ms);
  EXPECT_TRUE(time->tick());
  EXPECT_EQ(time->now_ms(), clock.wall_ms());
  EXPECT_TRUE(time->jump()->over);
  EXPECT_FALSE(time->holds_retention());
}

TEST_F(EngineTimeTest, AClockThatWasSetWhileNoProcessRanIsNotBelievedWithinOneBoot) {
  auto time = open();
  time->tick();
  keep(*time);
  clock.advance_ms(3 * kHour_ms);
  clock.set_wall_ms(clock.wall_ms() + 2 * kYear_ms);
  time = open();
  EXPECT_TRUE(time->tick());
  EXPECT_EQ(time->now_ms(), kStart_ms + 3 * kHour_ms);
  EXPECT_EQ(time->jump()->by_ms, 2 * kYear_ms);
}

TEST_F(EngineTimeTest, AfterABootALaterClockIsBelievedAndRetentionWaitsForAnHour) {
  auto time = open();
  time->tick();
  keep(*time);
  boot = "b2";
  clock.advance_ms(1000);
  clock.set_wall_ms(kStart_ms + 2 * kYear_ms);
  time = open();
  EXPECT_FALSE(time->tick());
  EXPECT_EQ(time->now_ms(), kStart_ms + 2 * kYear_ms);
  EXPECT_TRUE(time->holds_retention());
  keep(*time);
  time = open();  // the next command of the same boot
  EXPECT_TRUE(time->holds_retention());
  clock.advance_ms(kHour_ms);
  EXPECT_FALSE(time->tick());
  EXPECT_FALSE(time->holds_retention());
}

TEST_F(EngineTimeTest, AfterABootWithAnEarlierClockTimeStaysWhereItWas) {
  auto time = open();
  time->tick();
  keep(*time);
  boot = "b2";
  clock.set_wall_ms(0);
  time = open();
  EXPECT_TRUE(time->tick());
  EXPECT_EQ(time->now_ms(), kStart_ms);
  EXPECT_EQ(time->jump()->by_ms, -kStart_ms);
}

TEST_F(EngineTimeTest, IsCorrectedToTheClockAndShiftsWhatWasRecordedBefore) {
  auto time = open();
  clock.set_wall_ms(kStart_ms - kYear_ms);
  time->tick();
  time->correct(7);
  EXPECT_EQ(time->now_ms(), kStart_ms - kYear_ms);
  EXPECT_FALSE(time->holds_retention());
  EXPECT_FALSE(time->tick());
  EXPECT_EQ(time->kept().shift_ms(6), -kYear_ms);
  EXPECT_EQ(time->kept().shift_ms(7), 0);
  keep(*time);
  EXPECT_EQ(open()->kept().corrections, (std::vector<TimeCorrection>{{7, -kYear_ms}}));
}

TEST_F(EngineTimeTest, KeepsNothingAnewWhileTheClockRunsEvenly) {
  auto time = open();
  time->tick();
  EXPECT_TRUE(time->take_unkept());
  clock.advance_ms(kHour_ms);
  time->tick();
  EXPECT_FALSE(time->take_unkept());
}

TEST(Boot, IsReadFromTheSystem) {
  RealDisk disk;
  Boot boot = this_boot(disk);
  EXPECT_EQ(boot.id.size(), 36U);
  EXPECT_GT(boot.uptime_ms, 0);
}

}  // namespace engine_time_test
}  // namespace sluice::engine
