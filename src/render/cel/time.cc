// Text and arithmetic of time, without a time zone but by offset or name.
#include "render/cel/time.h"

#include <chrono>
#include <cstdio>

#include "base/ascii.h"

namespace sluice::cel {
namespace {

constexpr int64_t kNanos = 1'000'000'000;
constexpr int64_t kFirstSecond = -62135596800;  // 0001-01-01T00:00:00Z
constexpr int64_t kLastSecond = 253402300799;   // 9999-12-31T23:59:59Z

using std::chrono::days;
using std::chrono::sys_days;

// Exactly so many digits; they are taken from the text.
bool take_digits(std::string_view& text, size_t count, int& number) {
  if (text.size() < count) return false;
  number = 0;
  for (size_t index = 0; index < count; ++index) {
    if (!is_digit(text[index])) return false;
    number = number * 10 + (text[index] - '0');
  }
  text.remove_prefix(count);
  return true;
}

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

// Digits after a point, as a part of `unit`.
bool take_fraction(std::string_view& text, int64_t unit, int64_t& part) {
  part = 0;
  size_t digits = 0;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), ++digits) {
    unit /= 10;
    part += (text.front() - '0') * unit;
  }
  return digits > 0;
}

std::optional<int32_t> parse_offset(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int hours = 0, minutes = 0;
  const size_t colon = text.find(':');
  if (colon != 1 && colon != 2) return std::nullopt;
  if (!take_digits(text, colon, hours) || !take(text, ':') || !take_digits(text, 2, minutes) || !text.empty()) {
    return std::nullopt;
  }
  if (hours > 23 || minutes > 59) return std::nullopt;
  const int32_t seconds = hours * 3600 + minutes * 60;
  return negative ? -seconds : seconds;
}

std::string fraction_text(int64_t nanos) {
  if (nanos == 0) return "";
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, ".%09lld", static_cast<long long>(nanos));
  std::string text(buffer);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

}  // namespace

bool within_bounds(Instant instant) { return instant.seconds >= kFirstSecond && instant.seconds <= kLastSecond; }

std::optional<Instant> parse_instant(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  int64_t nanos = 0;
  if (!take_digits(text, 4, year) || !take(text, '-') || !take_digits(text, 2, month) || !take(text, '-') ||
      !take_digits(text, 2, day) || !(take(text, 'T') || take(text, 't')) || !take_digits(text, 2, hour) ||
      !take(text, ':') || !take_digits(text, 2, minute) || !take(text, ':') || !take_digits(text, 2, second)) {
    return std::nullopt;
  }
  if (take(text, '.') && !take_fraction(text, kNanos, nanos)) return std::nullopt;
  int32_t offset_s = 0;
  if (text != "Z" && text != "z") {
    if (!text.starts_with('+') && !text.starts_with('-')) return std::nullopt;
    const auto offset = parse_offset(text);
    if (!offset || text.size() != 6) return std::nullopt;
    offset_s = *offset;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const auto midnight = sys_days(date).time_since_epoch().count() * int64_t{86400};
  const Instant instant{midnight + hour * 3600 + minute * 60 + second - offset_s, static_cast<int32_t>(nanos)};
  if (!within_bounds(instant)) return std::nullopt;
  return instant;
}

std::optional<int64_t> parse_duration_text(std::string_view text) {
  const bool negative = take(text, '-');
  if (!negative) take(text, '+');
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  __int128 total = 0;
  while (!text.empty()) {
    __int128 whole = 0;
    size_t digits = 0;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), ++digits) {
      whole = whole * 10 + (text.front() - '0');
      if (whole > INT64_MAX) return std::nullopt;
    }
    std::string_view fraction;
    if (take(text, '.')) {
      const size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
      fraction = text.substr(0, length);
      text.remove_prefix(length);
    }
    if (digits == 0 && fraction.empty()) return std::nullopt;
    int64_t unit = 0;
    for (const auto& [name, nanos] : {std::pair<std::string_view, int64_t>{"ns", 1},
                                      {"us", 1000},
                                      {"µs", 1000},
                                      {"ms", 1'000'000},
                                      {"s", kNanos},
                                      {"m", 60 * kNanos},
                                      {"h", 3600 * kNanos}}) {
      if (!text.starts_with(name)) continue;
      if (name == "m" && text.starts_with("ms")) continue;
      unit = nanos;
      text.remove_prefix(name.size());
      break;
    }
    if (unit == 0) return std::nullopt;
    int64_t part = 0;
    take_fraction(fraction, unit, part);
    total += whole * unit + part;
    if (total > INT64_MAX) return std::nullopt;
  }
  return static_cast<int64_t>(negative ? -total : total);
}

std::optional<Instant> add(Instant instant, int64_t nanos) {
  int64_t seconds = instant.seconds + nanos / kNanos;
  int64_t rest = instant.nanos + nanos % kNanos;
  if (rest < 0) {
    rest += kNanos;
    --seconds;
  }
  if (rest >= kNanos) {
    rest -= kNanos;
    ++seconds;
  }
  const Instant sum{seconds, static_cast<int32_t>(rest)};
  if (!within_bounds(sum)) return std::nullopt;
  return sum;
}

std::optional<int64_t> difference(Instant later, Instant earlier) {
  const __int128 nanos = static_cast<__int128>(later.seconds - earlier.seconds) * kNanos + later.nanos - earlier.nanos;
  if (nanos > INT64_MAX || nanos < INT64_MIN) return std::nullopt;
  return static_cast<int64_t>(nanos);
}

std::string text_of(Instant instant) {
  const sys_days day{std::chrono::floor<days>(std::chrono::seconds(instant.seconds))};
  const std::chrono::year_month_day date(day);
  const int64_t rest = instant.seconds - day.time_since_epoch().count() * int64_t{86400};
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(rest / 3600),
                static_cast<int>(rest / 60 % 60), static_cast<int>(rest % 60));
  return buffer + fraction_text(instant.nanos) + "Z";
}

std::string text_of_duration(int64_t nanos) {
  const uint64_t size = nanos < 0 ? 0 - static_cast<uint64_t>(nanos) : static_cast<uint64_t>(nanos);
  return (nanos < 0 ? "-" : "") + std::to_string(size / kNanos) + fraction_text(static_cast<int64_t>(size % kNanos)) +
         "s";
}

Result<Calendar> calendar_of(Instant instant, std::string_view zone, const TimeZones* zones) {
  int32_t offset_s = 0;
  if (const auto offset = parse_offset(zone)) {
    offset_s = *offset;
  } else if (!zone.empty() && zone != "UTC") {
    if (!zones) return Error{.code = Code::unavailable, .message = "there are no time zones here but UTC and offsets"};
    auto found = zones->find(zone);
    if (!found) return found.error();
    offset_s = (*found)->offset_at(instant.seconds);
  }
  const int64_t local = instant.seconds + offset_s;
  const sys_days day{std::chrono::floor<days>(std::chrono::seconds(local))};
  const std::chrono::year_month_day date(day);
  const int64_t rest = local - day.time_since_epoch().count() * int64_t{86400};
  const auto first = sys_days(date.year() / std::chrono::January / 1);
  return Calendar{.year = static_cast<int>(date.year()),
                  .month = static_cast<unsigned>(date.month()),
                  .day = static_cast<unsigned>(date.day()),
                  .day_of_year = (day - first).count(),
                  .day_of_week = std::chrono::weekday(day).c_encoding(),
                  .hours = rest / 3600,
                  .minutes = rest / 60 % 60,
                  .seconds = rest % 60,
                  .milliseconds = instant.nanos / 1'000'000};
}

}  // namespace sluice::cel
