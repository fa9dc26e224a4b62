// Deadlines fire once, not early, and at most a tick late.
#include "router/proxy/timers.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::router {
namespace timers_test {

std::vector<Timer*> due_until(Timers& timers, int64_t from_ms, int64_t to_ms) {
  std::vector<Timer*> all;
  for (int64_t now = from_ms; now <= to_ms; now += 10) {
    while (Timer* timer = timers.due(now)) all.push_back(timer);
  }
  return all;
}

TEST(Timers, FireWhenTheyAreDue) {
  Timers timers(0);
  Timer soon, later, far;
  timers.set(soon, 250);
  timers.set(later, 5'000);
  timers.set(far, 300'000);  // further than the wheel goes round
  EXPECT_TRUE(due_until(timers, 0, 240).empty());
  EXPECT_EQ(due_until(timers, 250, 400), std::vector<Timer*>{&soon});
  EXPECT_EQ(due_until(timers, 410, 5'100), std::vector<Timer*>{&later});
  EXPECT_TRUE(due_until(timers, 5'110, 299'990).empty());
  EXPECT_EQ(due_until(timers, 300'000, 300'200), std::vector<Timer*>{&far});
  EXPECT_TRUE(due_until(timers, 300'210, 600'000).empty());
}

TEST(Timers, MoveBothWaysAndCanBeCleared) {
  Timers timers(0);
  Timer on, back, gone, removed;
  timers.set(on, 500);
  timers.set(on, 2'000);
  timers.set(back, 5'000);
  timers.set(back, 700);
  timers.set(gone, 300);
  timers.clear(gone);
  {
    timers.set(removed, 300);
    timers.remove(removed);
  }
  EXPECT_EQ(due_until(timers, 0, 1'990), std::vector<Timer*>{&back});
  EXPECT_EQ(due_until(timers, 2'000, 2'200), std::vector<Timer*>{&on});
  timers.set(gone, 3'000);
  EXPECT_EQ(due_until(timers, 2'210, 3'200), std::vector<Timer*>{&gone});
}

TEST(Timers, CatchUpAfterALongPause) {
  Timers timers(0);
  Timer timer;
  timers.set(timer, 1'000);
  EXPECT_EQ(timers.due(10'000'000), &timer);
  EXPECT_EQ(timers.due(10'000'000), nullptr);
}

}  // namespace timers_test
}  // namespace sluice::router
