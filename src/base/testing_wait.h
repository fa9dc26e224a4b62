// How tests wait for what the world does in its own time: for a condition, with a deadline, never for a time.
//
//   ASSERT_TRUE(eventually([&] { return !said().empty(); }));
#pragma once

#include "base/clock.h"

namespace sluice {

// Whether the condition comes to hold within a minute.
template <typename Condition>
bool eventually(Condition holds) {
  RealClock clock;
  const int64_t until_ns = clock.monotonic_ns() + 60'000'000'000;
  while (!holds()) {
    if (clock.monotonic_ns() > until_ns) return false;
    clock.sleep_ms(2);
  }
  return true;
}

}  // namespace sluice
