// The buckets of a latency histogram, given by the upper ends of all but the last. The judge takes whatever its source
// has, a router's or Prometheus's; its own 64 go from 0.1 ms to 158 s, each a quarter (×1.26) longer than the one
// before.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/result.h"

namespace sluice::judge {

inline constexpr size_t kMostBuckets = 64;

class Buckets {
 public:
  Buckets();  // the judge's own
  // Ends ascend; at most one less than kMostBuckets.
  static Result<Buckets> with_ends(std::vector<double> ends_us);

  size_t size() const { return ends_us_.size() + 1; }
  const std::vector<double>& ends_us() const { return ends_us_; }

  // The first end that is no less than this latency; the last bucket's number if there is none.
  size_t end_at(double latency_us) const;
  // How much longer the bucket behind an end is: 1.26 where ends are 100 and 126. 0 where there is no further end.
  double step_at(size_t end) const;

 private:
  std::vector<double> ends_us_;
};

// How many of a histogram's counts lie above each end.
class Tails {
 public:
  Tails(const std::vector<double>& latencies, size_t buckets);

  double all() const { return all_; }
  double above(size_t end) const { return end < buckets_ ? above_[end] : 0; }
  // The first end that at most this share of all lies above.
  size_t end_of_tail(double share) const;

 private:
  size_t buckets_;
  double all_ = 0;
  std::array<double, kMostBuckets> above_;
};

}  // namespace sluice::judge
