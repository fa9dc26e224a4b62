// Since Linux 6.12 a thread may say how long its turns are, and one with shorter turns interrupts another.
#include "base/thread_turns.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace sluice {
namespace {

constexpr uint64_t kShortTurn_ns = 100'000;  // the shortest that there is
constexpr int kLowNice = 10;                 // a tenth of what another gets

// The kernel's sched_attr; its own header and the C library's cannot be included together.
struct SchedulingWish {
  uint32_t size = sizeof(SchedulingWish);
  uint32_t policy = SCHED_OTHER;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = kShortTurn_ns;  // of one turn
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};

void wish_for_this_thread(int nice) {
  const SchedulingWish wish{.nice = nice};
  ::syscall(SYS_sched_setattr, 0, &wish, 0);
}

}  // namespace

void take_short_turns() { wish_for_this_thread(::getpriority(PRIO_PROCESS, 0)); }

// Short turns, too: what it interrupts waits the less.
void let_others_go_first() { wish_for_this_thread(kLowNice); }

}  // namespace sluice
