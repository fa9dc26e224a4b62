// Tails are summed from the last bucket down, for every histogram alike, so that equal histograms have equal tails.
#include "judge/buckets.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice::judge {

Buckets::Buckets() {
  for (size_t i = 0; i + 1 < kMostBuckets; ++i) ends_us_.push_back(100 * std::pow(10, static_cast<double>(i) / 10));
}

Result<Buckets> Buckets::with_ends(std::vector<double> ends_us) {
  if (ends_us.empty() || ends_us.size() >= kMostBuckets) {
    return Error{.code = Code::invalid,
                 .message = "a histogram has 1 to " + std::to_string(kMostBuckets - 1) + " ends, not " +
                            std::to_string(ends_us.size())};
  }
  double before = 0;
  for (double end : ends_us) {
    if (!(end > before && end <= 1e12)) {
      return Error{.code = Code::invalid, .message = "the ends of a histogram's buckets must ascend from above 0"};
    }
    before = end;
  }
  Buckets made;
  made.ends_us_ = std::move(ends_us);
  return made;
}

size_t Buckets::end_at(double latency_us) const {
  // A limit of 100 ms is the end at 100 ms, also where that was computed as a hair less.
  return static_cast<size_t>(std::ranges::lower_bound(ends_us_, latency_us * (1 - 1e-9)) - ends_us_.begin());
}

double Buckets::step_at(size_t end) const { return end + 1 < ends_us_.size() ? ends_us_[end + 1] / ends_us_[end] : 0; }

Tails::Tails(const std::vector<double>& latencies, size_t buckets) : buckets_(buckets) {
  for (size_t i = buckets; i-- > 0;) {
    above_[i] = all_;
    if (i < latencies.size()) all_ += latencies[i];
  }
}

size_t Tails::end_of_tail(double share) const {
  size_t end = 0;
  while (end < buckets_ && above_[end] > share * all_) ++end;
  return end;
}

}  // namespace sluice::judge
