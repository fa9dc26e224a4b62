// Deadlines of many connections, cheap to move: moving one is a store. A wheel of slots of 100 ms holds each timer at
// the slot of some moment not after its deadline; when that slot passes, a timer whose deadline has been moved on is
// put further on, and one that is due is handed out. So a timer fires up to 100 ms late, never early.
#pragma once

#include <array>
#include <cstdint>

namespace sluice::router {

// A link of a timer's list. Whoever owns it says what it is for.
struct Timer {
  Timer* prev = nullptr;  // nothing: not in the wheel
  Timer* next = nullptr;
  int64_t deadline_ms = 0;  // 0: none
  int64_t tick = 0;         // of the slot that it is in
  bool armed() const { return deadline_ms != 0; }
};

class Timers {
 public:
  explicit Timers(int64_t now_ms);
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  // Only a deadline before the slot that the timer is in moves it.
  void set(Timer& timer, int64_t deadline_ms);
  void clear(Timer& timer) { timer.deadline_ms = 0; }  // it leaves the wheel when its slot passes
  void remove(Timer& timer);                           // at once: its memory goes away

  // Hands out a timer that is due, cleared and out of the wheel; nothing if there is none.
  Timer* due(int64_t now_ms);

 private:
  static constexpr int64_t kTick_ms = 100;
  static constexpr int64_t kSlots = 1024;

  void insert(Timer& timer, int64_t tick);

  std::array<Timer, kSlots> slots_;  // heads of rings
  int64_t tick_;                     // the slot that is looked at next
};

}  // namespace sluice::router
