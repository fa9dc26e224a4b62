// A child, or another's: its end is noticed.
#include "router/worker_process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/testing_wait.h"

namespace sluice::router {
namespace worker_process_test {

TEST(WorkerProcess, IsSeenToEnd) {
  auto child = WorkerProcess::begin([] { return 3; });
  ASSERT_TRUE(child);
  EXPECT_TRUE(eventually([&] { return child->has_ended(); }));
}

TEST(WorkerProcess, IsSignalled) {
  auto child = WorkerProcess::begin([] {
    while (true) await_news(10'000, nullptr);
    return 0;
  });
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->has_ended());
  child->send(SIGKILL);
  EXPECT_TRUE(eventually([&] { return child->has_ended(); }));
}

TEST(WorkerProcess, OfAnotherIsSeenToEnd) {
  auto child = WorkerProcess::begin([] {
    while (true) await_news(10'000, nullptr);
    return 0;
  });
  ASSERT_TRUE(child);
  auto adopted = WorkerProcess::adopt(child->pid());
  ASSERT_TRUE(adopted);
  EXPECT_FALSE(adopted->has_ended());
  adopted->send(SIGKILL);
  EXPECT_EQ(await_news(60'000, &*adopted), MasterNews::nothing);
  EXPECT_TRUE(adopted->has_ended());
  EXPECT_TRUE(eventually([&] { return child->has_ended(); }));
}

}  // namespace worker_process_test
}  // namespace sluice::router
