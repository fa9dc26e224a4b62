// Rings of timers, each with a head in the wheel, so that a timer leaves in one step.
#include "router/proxy/timers.h"

#include <algorithm>

namespace sluice::router {

Timers::Timers(int64_t now_ms) : tick_(now_ms / kTick_ms) {
  for (Timer& head : slots_) head.prev = head.next = &head;
}

void Timers::insert(Timer& timer, int64_t tick) {
  // Not in the slot that is being emptied: it would be met again at once.
  tick = std::clamp(tick, tick_ + 1, tick_ + kSlots - 1);
  Timer& head = slots_[static_cast<size_t>(tick % kSlots)];
  timer.tick = tick;
  timer.prev = &head;
  timer.next = head.next;
  head.next->prev = &timer;
  head.next = &timer;
}

void Timers::remove(Timer& timer) {
  timer.deadline_ms = 0;
  if (timer.prev == nullptr) return;
  timer.prev->next = timer.next;
  timer.next->prev = timer.prev;
  timer.prev = timer.next = nullptr;
}

void Timers::set(Timer& timer, int64_t deadline_ms) {
  int64_t tick = (deadline_ms + kTick_ms - 1) / kTick_ms;
  if (timer.prev == nullptr || tick < timer.tick) {
    remove(timer);
    insert(timer, tick);
  }
  timer.deadline_ms = deadline_ms;
}

Timer* Timers::due(int64_t now_ms) {
  int64_t until = now_ms / kTick_ms;
  if (until - tick_ > kSlots) tick_ = until - kSlots;
  for (; tick_ <= until; ++tick_) {
    Timer& head = slots_[static_cast<size_t>(tick_ % kSlots)];
    while (head.next != &head) {
      Timer& timer = *head.next;
      int64_t deadline_ms = timer.deadline_ms;
      remove(timer);
      if (deadline_ms == 0) continue;
      if (deadline_ms <= now_ms) return &timer;
      timer.deadline_ms = deadline_ms;
      insert(timer, (deadline_ms + kTick_ms - 1) / kTick_ms);
    }
  }
  return nullptr;
}

}  // namespace sluice::router
