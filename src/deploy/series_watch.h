// SeriesWatch remembers what the routers counted: for each revision every second of the last 15 minutes and every
// minute of the last day, with requests, failures and latencies. It is what charts are drawn from, so that a page shows
// the same after a reload. Once a second it asks each router for all its counts.
//
// It is memory alone: nothing is written to the journal, and it begins again with the process. Only revisions that had
// a request since then have a series; there are at most kMostSeries, and the one that was quiet the longest makes room.
// A second in which no router answered is a gap, never a zero. When counters begin again, that second is left out.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "deploy/router_fleet.h"
#include "deploy/views/known_routers.h"
#include "lang/run/observer.h"
#include "router/counters.h"

namespace sluice::deploy {

// What came in some stretch of time.
struct CountedSpan {
  int64_t at_s = 0;  // when it began, since 1970
  int64_t span_ms = 0;
  double requests = 0;
  double failed = 0;
  std::array<double, ::sluice::router::kLatencyBuckets> latencies{};

  void add(const CountedSpan& more);
  std::optional<double> quantile_ms(double share) const;
};

// Of one revision. A slot holds only the buckets that are not empty.
class RequestSeries {
 public:
  static constexpr int64_t kSeconds = 15 * 60;
  static constexpr int64_t kMinutes = 24 * 60;

  void add(const CountedSpan& span);
  // The spans from `from_s` on that lie in a stretch of `step_s`, summed up by stretch. Steps of a minute or more are
  // whole minutes, from the minutes.
  std::map<int64_t, CountedSpan> since(int64_t from_s, int64_t step_s) const;
  int64_t last_request_s() const { return last_request_s_; }

 private:
  struct Slot {
    int64_t at_s = 0;
    uint32_t span_ms = 0;
    uint32_t requests = 0;
    uint32_t failed = 0;
    std::vector<std::pair<uint8_t, uint32_t>> latencies;
  };
  static void put(std::deque<Slot>& slots, int64_t at_s, size_t most, const CountedSpan& span);

  std::deque<Slot> seconds_;
  std::deque<Slot> minutes_;
  int64_t last_request_s_ = 0;
};

class SeriesWatch final : public lang::Observer {
 public:
  static constexpr size_t kMostSeries = 256;

  // Both must outlive it.
  SeriesWatch(const RouterFleet& fleet, const Clock& clock) : fleet_(fleet), clock_(clock) {}

  std::string_view concept_name() const override { return "Router"; }
  void look(const Tell& tell) override;
  void compare(const lang::Snapshot& rows, const Tell& tell) override;

  // For views; any thread. Nothing: it had no request since this process began.
  std::map<int64_t, CountedSpan> since(const std::string& revision, int64_t from_s, int64_t step_s) const;
  // Its requests of the last minute.
  int64_t last_minute(const std::string& revision) const;

 private:
  struct Last {
    int64_t at_ns = 0;
    std::map<std::string, RouterFleet::Counted> totals;  // by revision
  };

  const RouterFleet& fleet_;
  const Clock& clock_;
  std::vector<views::KnownRouter> routers_;
  std::map<std::string, Last> last_;  // by router
  mutable std::mutex mutex_;          // over series_, which views read
  std::map<std::string, RequestSeries> series_;
};

}  // namespace sluice::deploy
