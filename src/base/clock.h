// Clock is the seam through which Sluice sees time. Code that needs to know the time, or to wait, takes a Clock; only
// clock.cc asks the system. Tests give a ManualClock and move it themselves, so that nothing waits and every run is
// the same.
//
// wall_ms() is for people, ids and records: it can jump, also backwards. monotonic_ns() is for deadlines and
// durations: it never goes back, and means nothing in another process. Every clock may be used from many threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace sluice {

class Clock {
 public:
  virtual ~Clock() = default;

  virtual int64_t wall_ms() const = 0;  // UTC, milliseconds since 1970
  virtual int64_t monotonic_ns() const = 0;
  virtual void sleep_ms(int64_t duration_ms) = 0;
};

class RealClock final : public Clock {
 public:
  int64_t wall_ms() const override;
  int64_t monotonic_ns() const override;
  void sleep_ms(int64_t duration_ms) override;
};

// Stands still until it is moved. Sleeping moves it, so code that polls against a deadline ends at once.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t wall_ms = 0) : wall_ms_(wall_ms) {}

  int64_t wall_ms() const override { return wall_ms_; }
  int64_t monotonic_ns() const override { return monotonic_ns_; }
  void sleep_ms(int64_t duration_ms) override { advance_ms(duration_ms); }

  void advance_ms(int64_t duration_ms);  // both times; a negative duration is ignored
  void set_wall_ms(int64_t wall_ms);     // as an administrator or NTP does: forward or back
 private:
  std::atomic<int64_t> wall_ms_;
  std::atomic<int64_t> monotonic_ns_ = 0;
};

// "2026-03-01T09:30:00.125Z": RFC 3339 in UTC, always with milliseconds.
std::string utc_text(int64_t wall_ms);

}  // namespace sluice
