// Two indexes of the same timers.
#include "engine/timers.h"

#include <cassert>

namespace sluice::engine {

void Timers::arm(const Timer& timer, int64_t due_ms) {
  disarm(timer);
  by_time_.emplace(due_ms, timer);
  due_.emplace(timer, due_ms);
  assert(by_time_.size() == due_.size());
}

void Timers::disarm(const Timer& timer) {
  auto due = due_.find(timer);
  if (due == due_.end()) return;
  by_time_.erase({due->second, timer});
  due_.erase(due);
}

void Timers::clear() {
  by_time_.clear();
  due_.clear();
}

std::optional<Timer> Timers::take(int64_t now_ms) {
  if (by_time_.empty() || by_time_.begin()->first > now_ms) return std::nullopt;
  Timer timer = by_time_.begin()->second;
  disarm(timer);
  return timer;
}

std::optional<int64_t> Timers::next_ms() const {
  return by_time_.empty() ? std::nullopt : std::optional(by_time_.begin()->first);
}

}  // namespace sluice::engine
