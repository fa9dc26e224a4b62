// What the judge is given: how many requests the canary and the baseline had in the same stretch of time, how many of
// them failed, and how long they took.
//
// Sources count differently. Routers and Prometheus give totals that only grow, until a process starts again; Totals
// turns them into windows and leaves out what no window can be made of.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sluice::judge {

// Of one revision. Failed is what the revision is to blame for: 5xx, reset, timeout; not 4xx, not a client that left.
struct Counts {
  double requests = 0;
  double failed = 0;              // of the requests
  std::vector<double> latencies;  // by bucket (judge/buckets.h); may be shorter, the rest is 0
  static constexpr std::string_view kDefaulted[] = {"requests", "failed", "latencies"};
};
BOOST_DESCRIBE_STRUCT(Counts, (), (requests, failed, latencies))

struct Window {
  double seconds = 10;
  std::optional<int64_t> canary_weight_bps;  // throughout the window: close it when weights change
  Counts baseline;
  Counts canary;
  static constexpr std::string_view kDefaulted[] = {"seconds", "baseline"};
};
BOOST_DESCRIBE_STRUCT(Window, (), (seconds, canary_weight_bps, baseline, canary))

// Whether these can be counts: finite, none below 0, no more failed than there were.
bool is_sound(const Counts& counts);

// Adds a window to an earlier one.
void add(Counts& sum, const Counts& more);

class Totals {
 public:
  // What happened since the totals before; nothing for the first ones, and where a counter has jumped back or is no
  // number: then these are where it starts again.
  std::optional<Window> since_last(const Window& totals);
  int64_t resets() const { return resets_; }

 private:
  std::optional<Window> last_;
  int64_t resets_ = 0;
};

}  // namespace sluice::judge
