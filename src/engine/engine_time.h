// EngineTime is the time by which the machine records and waits. The system's clock can be set, by people and by NTP,
// so there are two times:
//
// now_ms() is recorded. It is the system's clock as long as that can be believed, and never goes back, also across
// restarts. A clock that is set forward by more than kJump_ms is not followed at once: recorded time runs at double
// speed until it has caught up. While it is ahead of the clock, after that was set back, it runs at half speed.
//
// steady_ms() is for durations: it runs evenly whatever happens to the clock, and means nothing in another process.
//
// Whether the clock was set while no process ran shows by the machine's uptime, which must have grown by as much. After
// a boot nobody can tell; then a clock that is later is believed, and retention waits for an hour, in which NTP
// corrects it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/document.h"
#include "base/result.h"
#include "store/store.h"

namespace sluice::engine {

// Which boot of the machine this is, and how long ago that was.
struct Boot {
  std::string id;  // empty: not known
  int64_t uptime_ms = 0;
};
Boot this_boot(Disk& disk);

// The last time that the clock was more than kJump_ms away from recorded time.
struct ClockJump {
  int64_t at_ms = 0;    // recorded time when it was noticed, or when it was over
  int64_t wall_ms = 0;  // what the clock said then
  int64_t by_ms = 0;    // how far the clock went: forward, or back if it is negative
  bool over = false;    // they agree again
  std::string what;     // "the system's clock went forward by 730 d"

  bool operator==(const ClockJump&) const = default;
};

// What an operator changed recorded time by. What was recorded before `seq` means a time that much later now.
struct TimeCorrection {
  uint64_t seq = 0;
  int64_t by_ms = 0;

  bool operator==(const TimeCorrection&) const = default;
};

// What the store keeps of all this, in its meta data.
struct KeptTime {
  std::string boot;
  int64_t recorded_at_boot_ms = 0;  // what recorded time would have been when the machine booted
  int64_t hold_until_ms = 0;        // no retention before this recorded time
  std::vector<TimeCorrection> corrections;

  bool operator==(const KeptTime&) const = default;

  // What must be added to a time that this record tells.
  int64_t shift_ms(uint64_t seq) const;
};
inline constexpr const char* kTimeMeta = "clock";
inline constexpr const char* kAttemptTimeMeta = "time";  // of the last attempt that is not journaled
Result<KeptTime> kept_time(store::Snapshot& snapshot);

// The row of state in which the last jump is kept, where views find it.
inline constexpr const char* kClockRelation = "engine.clock";
inline constexpr const char* kJumpKey = "jump";
json::value to_row(const ClockJump& jump);

class EngineTime {
 public:
  static constexpr int64_t kJump_ms = int64_t{5} * 60 * 1000;
  static constexpr int64_t kHold_ms = int64_t{60} * 60 * 1000;

  // The clock must outlive it.
  EngineTime(const Clock& clock, Boot boot);

  // Goes on where the store is. Again, after a failed commit: what was not kept is told anew.
  Result<void> resume(store::Snapshot& snapshot);
  // Looks at the clocks. True: there is a jump to record, or one is over.
  bool tick();
  // Recorded time becomes what the clock says, with the record of this seq: an operator says that it is right.
  void correct(uint64_t seq);

  int64_t now_ms() const { return now_us_ / 1000; }
  int64_t steady_ms() const { return steady_us_ / 1000; }
  // When something is due on the steady clock.
  // Rounded up, so that nothing ends before its time by a part of a millisecond.
  int64_t steady_of(int64_t due_ms) const { return (steady_us_ + 999) / 1000 + due_ms - now_ms(); }
  // The newest time that is known to have been recorded before this process; what was due then was under way.
  int64_t resumed_ms() const { return resumed_ms_; }
  int64_t wall_ms() const { return wall_us_ / 1000; }  // at the last tick
  // The clock is ahead of recorded time by this much, or behind.
  int64_t gap_ms() const { return wall_ms() - now_ms(); }
  bool is_apart() const { return gap_ms() > kJump_ms || gap_ms() < -kJump_ms; }
  // Nothing may be given up because it is old.
  bool holds_retention() const { return is_apart() || now_ms() < kept_.hold_until_ms; }
  const std::optional<ClockJump>& jump() const { return jump_; }
  const KeptTime& kept() const { return kept_; }

  // What the store is to keep, if that is not what it keeps; then it counts as kept.
  std::optional<std::string> take_unkept();

  // For ids: its wall_ms() is recorded time.
  const Clock& recorded() const { return *recorded_; }

 private:
  class Recorded;

  int64_t uptime_us() const { return boot_.uptime_ms * 1000 + steady_us_ - started_us_; }

  const Clock& clock_;
  Boot boot_;
  std::unique_ptr<const Clock> recorded_;
  int64_t now_us_ = 0;      // recorded
  int64_t steady_us_ = 0;   // at the last tick
  int64_t wall_us_ = 0;     // likewise
  int64_t started_us_ = 0;  // the steady clock when the boot was looked at
  int64_t resumed_ms_ = 0;
  bool resumed_ = false;
  std::optional<ClockJump> jump_;
  KeptTime kept_;
  bool unkept_ = false;
};

}  // namespace sluice::engine
