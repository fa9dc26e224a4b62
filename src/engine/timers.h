// What waits for time, by when it is due on the steady clock. There is at most one timer of a kind for an invocation:
// arming it again moves it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/ulid.h"

namespace sluice::engine {

struct Timer {
  enum class Kind : uint8_t { wait, deadline, retry, child, denials };
  Kind kind;
  Ulid flow, invocation;

  auto operator<=>(const Timer&) const = default;
};

class Timers {
 public:
  void arm(const Timer& timer, int64_t due_ms);
  void disarm(const Timer& timer);
  void clear();
  // The next that is due, which is taken out.
  std::optional<Timer> take(int64_t now_ms);
  std::optional<int64_t> next_ms() const;

 private:
  std::set<std::pair<int64_t, Timer>> by_time_;
  std::map<Timer, int64_t> due_;
};

}  // namespace sluice::engine
