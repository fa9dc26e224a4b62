// Text forms of times and bytes.
#include "lang/values.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <optional>

#include "crypto/base64.h"

namespace sluice::lang {
namespace {

constexpr int64_t kMsPerDay = 86'400'000;
constexpr int64_t kFirstMs = -62'167'219'200'000;  // 0000-01-01
constexpr int64_t kLastMs = 253'402'300'799'999;   // the last of 9999

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

std::string to_text(DateTime time) {
  using namespace std::chrono;
  int64_t ms = std::min(std::max(time.ms, kFirstMs), kLastMs);
  int64_t day = (ms >= 0 ? ms : ms - (kMsPerDay - 1)) / kMsPerDay;
  int64_t rest = ms - day * kMsPerDay;
  year_month_day date{sys_days{days{day}}};
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(rest / 3'600'000), static_cast<int>(rest / 60'000 % 60),
                static_cast<int>(rest / 1000 % 60), static_cast<int>(rest % 1000));
  return text.data();
}

Result<DateTime> parse_date_time(std::string_view text) {
  using namespace std::chrono;
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
  return DateTime{day_count * kMsPerDay + *hours_number * 3'600'000LL + *minutes_number * 60'000LL +
                  *seconds_number * 1000LL + ms};
}

std::string to_base64(std::string_view bytes) { return crypto::to_base64(bytes); }

Result<Bytes> parse_base64(std::string_view text) {
  auto bytes = crypto::from_base64(text);
  if (!bytes) return Error{.code = Code::invalid, .message = "expected base64 text with its padding"};
  return Bytes{*std::move(bytes)};
}

}  // namespace sluice::lang
