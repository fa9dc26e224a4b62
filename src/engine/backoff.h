// How long to wait before the next try: a first pause that doubles up to a longest one.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice::engine {

struct Backoff {
  int64_t first_ms = 0;
  int64_t longest_ms = 0;

  // After so many attempts.
  constexpr int64_t after_ms(int64_t attempts) const {
    int64_t wait_ms = first_ms;
    for (int64_t i = 1; i < attempts && wait_ms < longest_ms; ++i) wait_ms *= 2;
    return std::min(wait_ms, longest_ms);
  }
};

}  // namespace sluice::engine
