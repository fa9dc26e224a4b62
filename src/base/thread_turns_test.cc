// What the kernel says of a thread that has asked.
#include "base/thread_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

namespace sluice {
namespace thread_turns_test {

// As the kernel says it; 0 if it does not say.
int64_t turn_of_this_thread_ns() {
  std::ifstream facts("/proc/thread-self/sched");
  for (std::string name; facts >> name;) {
    int64_t number = 0;
    if (name == "se.slice" && facts >> name >> number) return number;
  }
  return 0;
}

int nice_of_this_thread() { return ::getpriority(PRIO_PROCESS, 0); }

// Real time, or as far as it may.
TEST(ThreadTurns, WhoGoesFirstIsThisThreadAlone) {
  const int64_t before_ns = turn_of_this_thread_ns();
  const int nice = nice_of_this_thread();
  std::thread([&] {
    go_first();
    if (::sched_getscheduler(0) == SCHED_RR) return;
    if (before_ns != 0) {
      EXPECT_EQ(turn_of_this_thread_ns(), 600'000);
    }
    EXPECT_THAT(nice_of_this_thread(), testing::AnyOf(nice, -20));
  }).join();
  EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
  EXPECT_EQ(turn_of_this_thread_ns(), before_ns);
}

TEST(ThreadTurns, OthersGoFirst) {
  const int before = nice_of_this_thread();
  std::thread([&] {
    let_others_go_first();
    give_way();
    EXPECT_EQ(nice_of_this_thread(), std::max(before, 10));
  }).join();
  EXPECT_EQ(nice_of_this_thread(), before);
}

TEST(ThreadTurns, OthersGoBeforeAThreadOfOneThatGoesFirst) {
  const int before = nice_of_this_thread();
  std::thread([&] {
    go_first();
    std::thread([&] {
      let_others_go_first();
      EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
      EXPECT_EQ(nice_of_this_thread(), std::max(before, 10));
    }).join();
  }).join();
}

}  // namespace thread_turns_test
}  // namespace sluice
