// A count beyond kMost, or a part of a request that is less than kLeast, is taken for a fault of its source. That also
// keeps every sum and every ratio far from infinity. Parts of requests come from sources that extrapolate.
#include "judge/counts.h"

#include <algorithm>

namespace sluice::judge {
namespace {

constexpr double kMost = 1e12;
constexpr double kLeast = 1e-3;

bool is_count(double number) { return number == 0 || (number >= kLeast && number <= kMost); }  // NaN is none

double at(const std::vector<double>& counts, size_t bucket) { return bucket < counts.size() ? counts[bucket] : 0; }

// Later less earlier; not sound if a counter has jumped back.
Counts difference(const Counts& later, const Counts& earlier) {
  Counts less{.requests = later.requests - earlier.requests, .failed = later.failed - earlier.failed};
  less.latencies.resize(std::max(later.latencies.size(), earlier.latencies.size()));
  for (size_t i = 0; i < less.latencies.size(); ++i)
    less.latencies[i] = at(later.latencies, i) - at(earlier.latencies, i);
  return less;
}

}  // namespace

bool is_sound(const Counts& counts) {
  return is_count(counts.requests) && is_count(counts.failed) && counts.failed <= counts.requests &&
         std::ranges::all_of(counts.latencies, is_count);
}

void add(Counts& sum, const Counts& more) {
  sum.requests += more.requests;
  sum.failed += more.failed;
  if (sum.latencies.size() < more.latencies.size()) sum.latencies.resize(more.latencies.size());
  for (size_t i = 0; i < more.latencies.size(); ++i) sum.latencies[i] += more.latencies[i];
}

std::optional<Window> Totals::since_last(const Window& totals) {
  if (!is_sound(totals.baseline) || !is_sound(totals.canary)) {
    resets_++;
    last_.reset();
    return std::nullopt;
  }
  if (!last_) {
    last_ = totals;
    return std::nullopt;
  }
  Window window{.seconds = totals.seconds,
                .canary_weight_bps = totals.canary_weight_bps,
                .baseline = difference(totals.baseline, last_->baseline),
                .canary = difference(totals.canary, last_->canary)};
  last_ = totals;
  if (is_sound(window.baseline) && is_sound(window.canary)) return window;
  resets_++;
  return std::nullopt;
}

}  // namespace sluice::judge
