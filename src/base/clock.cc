// Where Sluice asks the system for the time.
#include "base/clock.h"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>

namespace sluice {

namespace chrono = std::chrono;

int64_t RealClock::wall_ms() const {
  return chrono::floor<chrono::milliseconds>(chrono::system_clock::now()).time_since_epoch().count();
}

// The clock that also runs while the machine sleeps: a lease that ended in the night has ended, and the system's clock
// has not jumped in the morning.
int64_t RealClock::monotonic_ns() const {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

void RealClock::sleep_ms(int64_t duration_ms) { std::this_thread::sleep_for(chrono::milliseconds(duration_ms)); }

void ManualClock::advance_ms(int64_t duration_ms) {
  if (duration_ms <= 0) return;
  wall_ms_ += duration_ms;
  monotonic_ns_ += duration_ms * 1'000'000;
}

void ManualClock::set_wall_ms(int64_t wall_ms) { wall_ms_ = wall_ms; }

std::string utc_text(int64_t wall_ms) {
  const chrono::sys_time<chrono::milliseconds> time{chrono::milliseconds(wall_ms)};
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(time - day);
  char text[48];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text;
}

}  // namespace sluice
