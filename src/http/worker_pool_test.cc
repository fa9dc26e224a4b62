// How many threads there are when work is short, and when it waits.
#include "http/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "base/testing_wait.h"

namespace sluice::http {
namespace worker_pool_test {

TEST(WorkerPool, DoesAllThatWasAskedForBeforeItEnds) {
  RealClock clock;
  std::atomic<int> done = 0;
  {
    WorkerPool pool({.stay = 2, .most = 2}, clock);
    for (int i = 0; i < 1000; ++i) pool.run([&] { ++done; });
    EXPECT_LE(pool.threads(), 2U);
  }
  EXPECT_EQ(done, 1000);
}

TEST(WorkerPool, WorkThatWaitsGetsMoreThreadsUpToTheBound) {
  RealClock clock;
  std::latch go(1);
  std::atomic<int> begun = 0;
  WorkerPool pool({.stay = 1, .most = 3, .idle_ms = 10}, clock);
  for (int i = 0; i < 5; ++i) {
    pool.run([&] {
      ++begun;
      go.wait();
    });
  }
  EXPECT_TRUE(eventually([&] { return begun == 3; }));
  EXPECT_EQ(pool.threads(), 3U);
  go.count_down();
  EXPECT_TRUE(eventually([&] { return begun == 5; }));
  EXPECT_TRUE(eventually([&] { return pool.threads() == 1; })) << "those beyond one end when they have nothing to do";
}

}  // namespace worker_pool_test
}  // namespace sluice::http
