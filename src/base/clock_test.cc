// The clocks: the manual one moves only when told, the real one agrees with the calendar.
#include "base/clock.h"

#include <gtest/gtest.h>

namespace sluice {
namespace clock_test {

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock(1'000);
  EXPECT_EQ(clock.wall_ms(), 1'000);
  EXPECT_EQ(clock.monotonic_ns(), 0);
  clock.advance_ms(250);
  EXPECT_EQ(clock.wall_ms(), 1'250);
  EXPECT_EQ(clock.monotonic_ns(), 250'000'000);
}

TEST(ManualClock, KeepsMonotonicTimeWhenTheWallClockGoesBack) {
  ManualClock clock(1'000);
  clock.advance_ms(5);
  clock.set_wall_ms(10);
  clock.advance_ms(-5);
  EXPECT_EQ(clock.wall_ms(), 10);
  EXPECT_EQ(clock.monotonic_ns(), 5'000'000);
}

TEST(ManualClock, SleepingMovesItInsteadOfWaiting) {
  ManualClock clock;
  clock.sleep_ms(86'400'000);
  EXPECT_EQ(clock.wall_ms(), 86'400'000);
}

TEST(RealClock, KnowsTheTimeAndNeverRunsBackwards) {
  RealClock clock;
  EXPECT_GT(clock.wall_ms(), 1'700'000'000'000);  // after November 2023
  EXPECT_LT(clock.wall_ms(), 7'000'000'000'000);  // before 2191: the unit is milliseconds
  int64_t before = clock.monotonic_ns();
  clock.sleep_ms(1);
  EXPECT_GE(clock.monotonic_ns() - before, 1'000'000);
}

TEST(Clock, WritesTimesAsRfc3339) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(utc_text(1'709'210'096'007), "2024-02-29T12:34:56.007Z");
  EXPECT_EQ(utc_text(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace clock_test
}  // namespace sluice
