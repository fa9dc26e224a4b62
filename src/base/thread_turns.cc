// Who may have real time goes before all others. Since Linux 6.12 a thread may also say how long its turns are, and one
// with shorter turns interrupts another.
#include "base/thread_turns.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace sluice {
namespace {

// Shorter than anybody's who says nothing, and longer than what is to be done in one: a turn that is over when the
// kernel's clock ticks ends there, and the next comes a tick later.
constexpr uint64_t kShortTurn_ns = 600'000;
constexpr uint64_t kShortestTurn_ns = 100'000;
constexpr int kHighNice = -20;  // eighty times what another gets, where that may be had
constexpr int kLowNice = 10;    // a tenth of it
constexpr int kFirstOfAll = 1;  // the lowest of real time is above all that is not

// The kernel's sched_attr; its own header and the C library's cannot be included together.
struct SchedulingWish {
  uint32_t size = sizeof(SchedulingWish);
  uint32_t policy = SCHED_OTHER;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;    // of real time
  uint64_t runtime_ns = 0;  // of one turn
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};

bool is_granted(const SchedulingWish& wish) { return ::syscall(SYS_sched_setattr, 0, &wish, 0) == 0; }

}  // namespace

void go_first() {
  is_granted({.policy = SCHED_RR, .priority = kFirstOfAll}) ||
      is_granted({.nice = kHighNice, .runtime_ns = kShortTurn_ns}) ||
      is_granted({.nice = ::getpriority(PRIO_PROCESS, 0), .runtime_ns = kShortTurn_ns});
}

void give_way() { ::sched_yield(); }

// The shortest turns that there are: what it interrupts waits the less.
void let_others_go_first() { is_granted({.nice = kLowNice, .runtime_ns = kShortestTurn_ns}); }

}  // namespace sluice
