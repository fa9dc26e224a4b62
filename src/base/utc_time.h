// Times as text, to be read: RFC 3339 in UTC, as utc_text (base/clock.h) writes it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace sluice {

// "2026-03-01T09:30:00.125Z" in milliseconds since 1970, also with fewer digits after the seconds or none. Years 0000
// to 9999, no other zone, no leap seconds.
Result<int64_t> parse_utc(std::string_view text);

}  // namespace sluice
