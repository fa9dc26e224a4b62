// One timer of a kind for an invocation, taken by when it is due.
#include "engine/timers.h"

#include <gtest/gtest.h>

namespace sluice::engine {
namespace timers_test {

const Timer kWait{Timer::Kind::wait, {}, {}};
const Timer kRetry{Timer::Kind::retry, {}, {}};

TEST(Timers, AreTakenWhenTheyAreDueTheFirstOneFirst) {
  Timers timers;
  timers.arm(kWait, 20);
  timers.arm(kRetry, 10);
  EXPECT_EQ(timers.next_ms(), 10);
  EXPECT_FALSE(timers.take(9));
  EXPECT_EQ(timers.take(30), kRetry);
  EXPECT_EQ(timers.take(30), kWait);
  EXPECT_FALSE(timers.take(30));
  EXPECT_EQ(timers.next_ms(), std::nullopt);
}

TEST(Timers, AreMovedWhenTheyAreArmedAgain) {
  Timers timers;
  timers.arm(kWait, 10);
  timers.arm(kWait, 20);
  EXPECT_FALSE(timers.take(10));
  EXPECT_EQ(timers.take(20), kWait);
  timers.arm(kWait, 10);
  timers.disarm(kWait);
  timers.disarm(kRetry);
  EXPECT_FALSE(timers.take(100));
}

}  // namespace timers_test
}  // namespace sluice::engine
