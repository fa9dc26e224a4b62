// Times are kept in microseconds, so that a slew adds up however often the clocks are looked at.
#include "engine/engine_time.h"

#include <algorithm>
#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <cassert>
#include <charconv>
#include <cstdlib>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "engine/journal/journal_search.h"

namespace sluice::engine {

BOOST_DESCRIBE_STRUCT(TimeCorrection, (), (seq, by_ms))
BOOST_DESCRIBE_STRUCT(KeptTime, (), (boot, recorded_at_boot_ms, hold_until_ms, corrections))
BOOST_DESCRIBE_STRUCT(ClockJump, (), (at_ms, wall_ms, by_ms, over, what))

namespace {

constexpr int64_t kJump_us = EngineTime::kJump_ms * 1000;
constexpr size_t kMaxProcBytes = 256;
// Both clocks are only ever read one after the other: what they differ by is kept anew when it has changed by this.
constexpr int64_t kKeptWithin_ms = 1000;

std::string text_of_jump(int64_t by_ms) {
  int64_t minutes = std::abs(by_ms) / 60'000;
  std::string far = minutes < 120    ? std::to_string(minutes) + " min"
                    : minutes < 2880 ? std::to_string(minutes / 60) + " h"
                                     : std::to_string(minutes / 1440) + " d";
  return std::string("the system's clock went ") + (by_ms > 0 ? "forward" : "back") + " by " + far;
}

template <typename T>
Result<T> read_kept(const std::string& text) {
  auto document = parse_json(text, "");
  auto kept = document ? read<T>(document->root) : Result<T>(document.error());
  if (kept) return kept;
  return Error{.code = Code::verification_failed,
               .message = "what the store keeps of the clock is damaged: " + kept.error().message,
               .next = "go back to a copy of the store"};
}

// The newest time that was recorded: that of the last record, or of the last attempt that is not journaled.
Result<int64_t> last_recorded(store::Snapshot& snapshot) {
  auto end = journal_end(snapshot);
  if (!end) return end.error();
  auto attempt = snapshot.meta(kAttemptTimeMeta);
  if (!attempt) return attempt.error();
  if (!*attempt) return end->at_ms;
  auto at_ms = number_in(**attempt, "the engine's time");
  if (!at_ms) return at_ms.error();
  return std::max(end->at_ms, *at_ms);
}

}  // namespace

Boot this_boot(Disk& disk) {
  auto id = read_file(disk, "/proc/sys/kernel/random/boot_id", kMaxProcBytes);
  auto uptime = read_file(disk, "/proc/uptime", kMaxProcBytes);
  if (!id || !uptime) return {};
  while (id->ends_with('\n')) id->pop_back();
  double seconds = 0;
  auto read = std::from_chars(uptime->data(), uptime->data() + uptime->size(), seconds);
  if (read.ec != std::errc()) return {};
  return {*std::move(id), static_cast<int64_t>(seconds * 1000)};
}

int64_t KeptTime::shift_ms(uint64_t seq) const {
  int64_t shift_ms = 0;
  for (const TimeCorrection& each : corrections) shift_ms += seq < each.seq ? each.by_ms : 0;
  return shift_ms;
}

Result<KeptTime> kept_time(store::Snapshot& snapshot) {
  auto text = snapshot.meta(kTimeMeta);
  if (!text) return text.error();
  return *text ? read_kept<KeptTime>(**text) : KeptTime();
}

json::value to_row(const ClockJump& jump) { return to_json(jump); }

class EngineTime::Recorded final : public Clock {
 public:
  explicit Recorded(const EngineTime& time) : time_(time) {}
  int64_t wall_ms() const override { return time_.now_ms(); }
  int64_t monotonic_ns() const override { return time_.clock_.monotonic_ns(); }
  void sleep_ms(int64_t) override {}

 private:
  const EngineTime& time_;
};

EngineTime::EngineTime(const Clock& clock, Boot boot)
    : clock_(clock),
      boot_(std::move(boot)),
      recorded_(std::make_unique<Recorded>(*this)),
      steady_us_(clock.monotonic_ns() / 1000),
      wall_us_(clock.wall_ms() * 1000),
      started_us_(steady_us_) {}

Result<void> EngineTime::resume(store::Snapshot& snapshot) {
  auto last_ms = last_recorded(snapshot);
  if (!last_ms) return last_ms.error();
  auto kept = kept_time(snapshot);
  if (!kept) return kept.error();
  auto row = snapshot.get(kClockRelation, kJumpKey);
  if (!row) return row.error();
  jump_.reset();
  if (*row) {
    auto jump = read_kept<ClockJump>((*row)->value);
    if (!jump) return jump.error();
    jump_ = *jump;
  }
  kept_ = *std::move(kept);
  resumed_ms_ = *last_ms;
  now_us_ = std::max(now_us_, *last_ms * 1000);
  if (std::exchange(resumed_, true)) return {};
  if (!boot_.id.empty() && kept_.boot == boot_.id) {
    now_us_ = std::max(now_us_, kept_.recorded_at_boot_ms * 1000 + uptime_us());
    return {};
  }
  bool believed = now_us_ > 0 && wall_us_ > now_us_ + kJump_us && !boot_.id.empty();
  if (believed) kept_.hold_until_ms = wall_ms() + kHold_ms;
  now_us_ = std::max(now_us_, wall_us_);
  return {};
}

bool EngineTime::tick() {
  int64_t steady_us = std::max(clock_.monotonic_ns() / 1000, steady_us_);
  int64_t elapsed_us = steady_us - std::exchange(steady_us_, steady_us);
  wall_us_ = clock_.wall_ms() * 1000;
  int64_t before_us = now_us_;
  int64_t gap_us = wall_us_ - now_us_ - elapsed_us;
  if (gap_us > kJump_us) {
    now_us_ += elapsed_us + std::min(elapsed_us, gap_us);
  } else if (gap_us >= 0) {
    now_us_ = wall_us_;
  } else {
    now_us_ += elapsed_us - std::min(elapsed_us / 2, -gap_us);
  }
  assert(now_us_ >= before_us);
  bool known = jump_ && !jump_->over;
  if (is_apart() == known) return false;
  int64_t by_ms = known ? jump_->by_ms : gap_ms();
  jump_ = ClockJump{now_ms(), wall_ms(), by_ms, known, text_of_jump(by_ms)};
  return true;
}

void EngineTime::correct(uint64_t seq) {
  kept_.corrections.push_back({seq, gap_ms()});
  kept_.hold_until_ms = std::min(kept_.hold_until_ms, wall_ms() + kHold_ms);
  unkept_ = true;
  now_us_ = wall_us_;
  jump_->at_ms = jump_->wall_ms = now_ms();
  jump_->over = true;
}

std::optional<std::string> EngineTime::take_unkept() {
  if (!boot_.id.empty()) {
    int64_t recorded_ms = (now_us_ - uptime_us()) / 1000;
    bool same = kept_.boot == boot_.id && std::abs(kept_.recorded_at_boot_ms - recorded_ms) <= kKeptWithin_ms;
    unkept_ = unkept_ || !same;
    if (!same) {
      kept_.boot = boot_.id;
      kept_.recorded_at_boot_ms = recorded_ms;
    }
  }
  if (!std::exchange(unkept_, false)) return std::nullopt;
  return write(to_json(kept_));
}

}  // namespace sluice::engine
