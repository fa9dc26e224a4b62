// Timestamps and durations of CEL: their text, their arithmetic within CEL's bounds, and the calendar in a time zone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time_zone.h"
#include "render/cel/value.h"

namespace sluice::cel {

// RFC 3339 with any offset and up to nine digits of a second, in the years 1 to 9999.
std::optional<Instant> parse_instant(std::string_view text);

// "1h30m", "-1.5s", "100ms", "2us", "5ns", in nanoseconds; nothing beyond some 292 years.
std::optional<int64_t> parse_duration_text(std::string_view text);

std::optional<Instant> add(Instant instant, int64_t nanos);
std::optional<int64_t> difference(Instant later, Instant earlier);
bool within_bounds(Instant instant);

struct Calendar {
  int64_t year = 0, month = 0, day = 0;  // month and day from 1
  int64_t day_of_year = 0;               // from 0
  int64_t day_of_week = 0;               // from Sunday, which is 0
  int64_t hours = 0, minutes = 0, seconds = 0, milliseconds = 0;
};

// `zone` is empty for UTC, an offset ("+02:00", "-9:30", "02:00") or the name of a zone.
Result<Calendar> calendar_of(Instant instant, std::string_view zone, const TimeZones* zones);

}  // namespace sluice::cel
