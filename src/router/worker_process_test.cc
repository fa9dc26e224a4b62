// A child: its end is noticed.
#include "router/worker_process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/testing_wait.h"

namespace sluice::router {
namespace worker_process_test {

TEST(WorkerProcess, IsSeenToEnd) {
  auto child = fork_worker([] { return 3; });
  ASSERT_TRUE(child);
  EXPECT_TRUE(eventually([&] { return has_ended(*child); }));
}

TEST(WorkerProcess, IsSignalled) {
  auto child = fork_worker([] {
    while (true) await_news(10'000);
    return 0;
  });
  ASSERT_TRUE(child);
  EXPECT_FALSE(has_ended(*child));
  signal_worker(*child, SIGKILL);
  EXPECT_TRUE(eventually([&] { return has_ended(*child); }));
}

}  // namespace worker_process_test
}  // namespace sluice::router
