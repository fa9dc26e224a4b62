// Text forms of times and bytes.
#include "lang/run/values.h"

#include <array>
#include <chrono>
#include <cstdio>

#include "base/utc_time.h"
#include "crypto/base64.h"

namespace sluice::lang {
namespace {

constexpr int64_t kMsPerDay = 86'400'000;
constexpr int64_t kFirstMs = -62'167'219'200'000;  // 0000-01-01
constexpr int64_t kLastMs = 253'402'300'799'999;   // the last of 9999

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
  auto ms = parse_utc(text);
  if (!ms) return ms.error();
  return DateTime{*ms};
}

std::string to_base64(std::string_view bytes) { return crypto::to_base64(bytes); }

Result<Bytes> parse_base64(std::string_view text) {
  auto bytes = crypto::from_base64(text);
  if (!bytes) return Error{.code = Code::invalid, .message = "expected base64 text with its padding"};
  return Bytes{*std::move(bytes)};
}

}  // namespace sluice::lang
