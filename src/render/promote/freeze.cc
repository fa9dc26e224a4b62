// Both forms are compared in the zone's own clock: a date in seconds since 1970 of that clock, a day of the week in
// minutes since Monday.
#include "render/promote/freeze.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace sluice::promote {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr int64_t kWeek = 7 * 24 * 60;

std::optional<int64_t> number_in(std::string_view text, size_t at, size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int64_t value = 0;
  const auto* end = text.data() + at + count;
  const auto [stopped, failed] = std::from_chars(text.data() + at, end, value);
  if (failed != std::errc() || stopped != end || value < 0) return std::nullopt;
  return value;
}

// Days since 1970 of a date of the Gregorian calendar.
int64_t days_of(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = year / 400;
  const int64_t of_era = year - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// "16:00" at this place, in minutes.
std::optional<int64_t> minutes_in(std::string_view text, size_t at) {
  const auto hour = number_in(text, at, 2), minute = number_in(text, at + 3, 2);
  if (!hour || !minute || *hour > 23 || *minute > 59 || text[at + 2] != ':') return std::nullopt;
  return *hour * 60 + *minute;
}

// "Fri 16:00", in minutes since Monday.
std::optional<int64_t> of_week(std::string_view text) {
  const auto day = std::find(kDays.begin(), kDays.end(), text.substr(0, 3));
  if (text.size() != 9 || text[3] != ' ' || day == kDays.end()) return std::nullopt;
  const auto minutes = minutes_in(text, 4);
  if (!minutes) return std::nullopt;
  return (day - kDays.begin()) * 24 * 60 + *minutes;
}

// "2026-12-20T00:00", in seconds of that clock.
std::optional<int64_t> of_date(std::string_view text) {
  if (text.size() != 16 || text[4] != '-' || text[7] != '-' || text[10] != 'T') return std::nullopt;
  const auto year = number_in(text, 0, 4), month = number_in(text, 5, 2), day = number_in(text, 8, 2);
  const auto minutes = minutes_in(text, 11);
  if (!year || !month || !day || !minutes || *month < 1 || *month > 12 || *day < 1 || *day > 31) return std::nullopt;
  return days_of(*year, *month, *day) * 86'400 + *minutes * 60;
}

Error unreadable(const char* field, const std::string& text) {
  return {.code = Code::invalid,
          .message = "'" + text + "' is no time: expected 2026-12-20T00:00, or Fri 16:00 for each week",
          .path = field};
}

bool holds(const Freeze& freeze, int64_t clock_s) {
  if (const auto from = of_date(freeze.from)) {
    const auto until = of_date(freeze.until);
    return until && clock_s >= *from && clock_s < *until;
  }
  const auto from = of_week(freeze.from), until = of_week(freeze.until);
  if (!from || !until) return false;
  // The first of January 1970 was a Thursday.
  const int64_t now = ((clock_s / 60 + 3 * 24 * 60) % kWeek + kWeek) % kWeek;
  return *from <= *until ? now >= *from && now < *until : now >= *from || now < *until;
}

}  // namespace

Result<void> check_freeze(const Freeze& freeze) {
  const auto from = of_date(freeze.from), until = of_date(freeze.until);
  if (from && until) {
    if (*until <= *from) return Error{.code = Code::invalid, .message = "it ends before it begins", .path = "/until"};
    return {};
  }
  if (!from && !of_week(freeze.from)) return unreadable("/from", freeze.from);
  if (from || !of_week(freeze.until)) return unreadable("/until", freeze.until);
  return {};
}

Result<std::optional<std::string>> frozen_at(const std::vector<Freeze>& freezes, const std::string& environment,
                                             int64_t seconds, const TimeZones& zones) {
  for (const Freeze& freeze : freezes) {
    const auto& named = freeze.environments;
    if (!named.empty() && std::find(named.begin(), named.end(), environment) == named.end()) continue;
    int64_t offset_s = 0;
    if (freeze.timeZone != "UTC") {
      const auto zone = zones.find(freeze.timeZone);
      if (!zone) return zone.error();
      offset_s = (*zone)->offset_at(seconds);
    }
    if (holds(freeze, seconds + offset_s)) {
      return std::optional(freeze.name + ", until " + freeze.until + " (" + freeze.timeZone + ")");
    }
  }
  return std::optional<std::string>();
}

}  // namespace sluice::promote
