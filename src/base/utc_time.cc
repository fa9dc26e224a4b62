// The one reader of times.
#include "base/utc_time.h"

#include <chrono>
#include <optional>

namespace sluice {

namespace chrono = std::chrono;

namespace {

constexpr int64_t kMsPerDay = 86'400'000;

// Takes `count` digits from the front of text.
std::optional<int> digits(std::string_view& text, size_t count) {
  if (text.size() < count) return std::nullopt;
  int number = 0;
  for (char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return number;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

Result<int64_t> parse_utc(std::string_view text) {
  using namespace chrono;
  Error refusal{.code = Code::invalid,
                .message = "expected a UTC time such as \"2030-01-31T12:00:00.000Z\", found \"" +
                           std::string(text.substr(0, 40)) + "\""};
  std::string_view rest = text;
  auto year_number = digits(rest, 4);
  bool shape = year_number && take(rest, '-');
  auto month_number = digits(rest, 2);
  shape = shape && month_number && take(rest, '-');
  auto day_number = digits(rest, 2);
  shape = shape && day_number && take(rest, 'T');
  auto hours_number = digits(rest, 2);
  shape = shape && hours_number && take(rest, ':');
  auto minutes_number = digits(rest, 2);
  shape = shape && minutes_number && take(rest, ':');
  auto seconds_number = digits(rest, 2);
  if (!shape || !seconds_number) return refusal;
  int64_t ms = 0;
  if (take(rest, '.')) {
    int scale = 100;
    while (scale > 0) {
      auto digit = digits(rest, 1);
      if (!digit) break;
      ms += int64_t{*digit} * scale;
      scale /= 10;
    }
    if (scale == 100) return refusal;
  }
  if (!take(rest, 'Z') || !rest.empty()) return refusal;
  year_month_day date{year(*year_number), month(static_cast<unsigned>(*month_number)),
                      day(static_cast<unsigned>(*day_number))};
  if (!date.ok() || *hours_number > 23 || *minutes_number > 59 || *seconds_number > 59) return refusal;
  int64_t day_count = sys_days(date).time_since_epoch().count();
  return day_count * kMsPerDay + *hours_number * 3'600'000LL + *minutes_number * 60'000LL + *seconds_number * 1000LL +
         ms;
}

}  // namespace sluice
