// Durations as people write them: 250ms, 30s, 5m, 1h30m, 7d.
//
// Whole numbers with units, largest unit first, each unit once, without blanks or signs. After the first part a unit
// stays below the one before it: 1h30m, not 1h90m. At most 36500d.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice {

constexpr std::chrono::milliseconds kLongestDuration = std::chrono::hours(24) * 36500;

Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// The shortest form that parse_duration reads back as the same: 90 s is 1m30s; none is 0s.
std::string print_duration(std::chrono::milliseconds duration);

}  // namespace sluice
