// What timestamps and durations are asked for.
#include "render/cel/library.h"
#include "render/cel/time.h"

namespace sluice::cel {
namespace {

template <int64_t (*Part)(const Calendar&)>
Value part(const Call& call) {
  const auto calendar = calendar_of(call[0].instant, call.given.size() > 1 ? call[1].text : "", call.zones);
  if (!calendar) return call.fault(calendar.error().message);
  return Value::of(Part(*calendar));
}

int64_t year(const Calendar& at) { return at.year; }
int64_t month(const Calendar& at) { return at.month - 1; }
int64_t date(const Calendar& at) { return at.day; }
int64_t day_of_month(const Calendar& at) { return at.day - 1; }
int64_t day_of_year(const Calendar& at) { return at.day_of_year; }
int64_t day_of_week(const Calendar& at) { return at.day_of_week; }
int64_t hours(const Calendar& at) { return at.hours; }
int64_t minutes(const Calendar& at) { return at.minutes; }
int64_t seconds(const Calendar& at) { return at.seconds; }
int64_t milliseconds(const Calendar& at) { return at.milliseconds; }

template <int64_t Nanos>
Value whole(const Call& call) {
  return Value::of(call[0].nanos / Nanos);
}
Value rest_milliseconds(const Call& call) { return Value::of(call[0].nanos % 1'000'000'000 / 1'000'000); }

constexpr Declared kTime[] = {
    {"(timestamp).getFullYear() -> int", part<year>},
    {"(timestamp).getFullYear(string) -> int", part<year>},
    {"(timestamp).getMonth() -> int", part<month>},
    {"(timestamp).getMonth(string) -> int", part<month>},
    {"(timestamp).getDate() -> int", part<date>},
    {"(timestamp).getDate(string) -> int", part<date>},
    {"(timestamp).getDayOfMonth() -> int", part<day_of_month>},
    {"(timestamp).getDayOfMonth(string) -> int", part<day_of_month>},
    {"(timestamp).getDayOfYear() -> int", part<day_of_year>},
    {"(timestamp).getDayOfYear(string) -> int", part<day_of_year>},
    {"(timestamp).getDayOfWeek() -> int", part<day_of_week>},
    {"(timestamp).getDayOfWeek(string) -> int", part<day_of_week>},
    {"(timestamp).getHours() -> int", part<hours>},
    {"(timestamp).getHours(string) -> int", part<hours>},
    {"(timestamp).getMinutes() -> int", part<minutes>},
    {"(timestamp).getMinutes(string) -> int", part<minutes>},
    {"(timestamp).getSeconds() -> int", part<seconds>},
    {"(timestamp).getSeconds(string) -> int", part<seconds>},
    {"(timestamp).getMilliseconds() -> int", part<milliseconds>},
    {"(timestamp).getMilliseconds(string) -> int", part<milliseconds>},
    {"(duration).getHours() -> int", whole<3'600'000'000'000>},
    {"(duration).getMinutes() -> int", whole<60'000'000'000>},
    {"(duration).getSeconds() -> int", whole<1'000'000'000>},
    {"(duration).getMilliseconds() -> int", rest_milliseconds},
};

}  // namespace

std::span<const Declared> time_functions() { return kTime; }

}  // namespace sluice::cel
