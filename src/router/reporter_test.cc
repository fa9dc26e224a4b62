// Reports on a thread of their own.
#include "router/reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <latch>

#include "base/testing_wait.h"

namespace sluice::router {
namespace reporter_test {

using Made = std::vector<std::pair<uint64_t, std::string>>;

bool is_ready(const Reporter& reporter) {
  pollfd watched{reporter.fd(), POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1;
}

TEST(Reporter, MakesOneAfterTheOtherElsewhere) {
  Reporter reporter;
  EXPECT_FALSE(is_ready(reporter));
  std::latch go(1);
  const auto here = std::this_thread::get_id();
  reporter.make(7, [&] {
    go.wait();
    return std::string(std::this_thread::get_id() == here ? "here" : "elsewhere");
  });
  reporter.make(8, [] { return std::string("next"); });
  EXPECT_EQ(reporter.take(), Made{}) << "nobody waits for it";
  go.count_down();
  Made all;
  EXPECT_TRUE(eventually([&] {
    if (!is_ready(reporter)) return false;
    for (auto& each : reporter.take()) all.push_back(each);
    return all.size() == 2;
  }));
  EXPECT_EQ(all, (Made{{7, "elsewhere"}, {8, "next"}}));
  EXPECT_FALSE(is_ready(reporter));
}

TEST(Reporter, WaitsAtItsEndForTheOneThatIsBeingMade) {
  std::latch begun(1);
  std::atomic<bool> made = false;
  {
    Reporter reporter;
    reporter.make(1, [&] {
      begun.count_down();
      std::this_thread::yield();
      made = true;
      return std::string();
    });
    begun.wait();
  }
  EXPECT_TRUE(made);
}

}  // namespace reporter_test
}  // namespace sluice::router
