// One table of units serves both ways.
#include "base/duration.h"

#include <array>
#include <cassert>
#include <cstdint>

#include "base/terminal.h"

namespace sluice {
namespace {

struct Unit {
  std::string_view name;
  int64_t ms;
};

constexpr std::array kUnits = {Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000}, Unit{"s", 1'000},
                               Unit{"ms", 1}};
constexpr size_t kLongestDurationText = 40;  // more than any duration needs; keeps hostile text out of messages

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  auto refuse = [&](const std::string& why) {
    return Error{.code = Code::invalid,
                 .message = "'" + printable(text.substr(0, kLongestDurationText)) + "' is not a duration: " + why,
                 .next = "write it like 250ms, 30s, 5m, 1h30m or 7d"};
  };
  if (text.empty()) return refuse("it is empty");
  if (text.size() > kLongestDurationText) return refuse("it is too long");
  int64_t total = 0;
  size_t next_unit = 0;  // the largest unit that may still come
  std::string_view rest = text;
  while (!rest.empty()) {
    size_t digits = rest.find_first_not_of("0123456789");
    if (digits == 0) return refuse("expected a digit at '" + printable(rest) + "'");
    if (digits == std::string_view::npos) return refuse("a unit is missing after " + std::string(rest));
    if (digits > 15) return refuse("it is longer than " + print_duration(kLongestDuration));
    int64_t count = 0;
    for (char digit : rest.substr(0, digits)) count = count * 10 + (digit - '0');
    rest.remove_prefix(digits);
    std::string_view name = rest.substr(0, rest.find_first_of("0123456789"));
    rest.remove_prefix(name.size());
    size_t unit = 0;
    while (unit < kUnits.size() && kUnits[unit].name != name) ++unit;
    if (unit == kUnits.size()) return refuse("unknown unit '" + printable(name) + "'; the units are d, h, m, s and ms");
    if (unit < next_unit) return refuse("units go from large to small, each once");
    if (next_unit > 0 && count >= kUnits[next_unit - 1].ms / kUnits[unit].ms) {
      return refuse(std::to_string(count) + std::string(name) + " is 1" + std::string(kUnits[next_unit - 1].name) +
                    " or more");
    }
    if (count > (kLongestDuration.count() - total) / kUnits[unit].ms) {
      return refuse("it is longer than " + print_duration(kLongestDuration));
    }
    total += count * kUnits[unit].ms;
    next_unit = unit + 1;
  }
  return std::chrono::milliseconds(total);
}

std::string print_duration(std::chrono::milliseconds duration) {
  int64_t rest = duration.count();
  assert(rest >= 0);
  if (rest == 0) return "0s";
  std::string text;
  for (const Unit& unit : kUnits) {
    if (rest < unit.ms) continue;
    text += std::to_string(rest / unit.ms);
    text += unit.name;
    rest %= unit.ms;
  }
  return text;
}

}  // namespace sluice
