// The judge's arithmetic, one stream at a time. A stream counts "bad" requests: failed, or slower than some end of the
// histogram. On every window it lays two kinds of bets, which pay only if they are right:
//
//   against  the canary is worse than tolerated. If it is not, the stakes grow a thousandfold in fewer than one of a
//            thousand rollouts, however often anyone looks (Ville's inequality).
//   for      the canary is better than the margin. If it is not, the credits reach 1/beta with probability beta.
//
// What each bet wins, why that is valid, and where the constants come from: docs/internals/judge.md.
#pragma once

#include <boost/describe.hpp>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "judge/settings.h"

namespace sluice::judge {

// One window of a stream.
struct Sample {
  double canary = 0;  // requests
  double canary_bad = 0;
  double canary_far = 0;  // bad beyond the margin: of latencies those one bucket further, else the bad ones
  double baseline = 0;
  double baseline_bad = 0;
};

// What a stream has come to.
struct Stream {
  std::vector<double> stakes = std::vector<double>(6, 0.5);  // of the bets against; their mean is what is reported
  std::vector<double> credits = std::vector<double>(4, 0);   // logarithms of the bets for
  // How much more the canary's and the baseline's bad counts differ than independent requests would.
  double spread = 0;
  double spread_of = 0;
  // The same of the baseline's counts over time.
  double drift = 0;
  double drift_of = 0;
  // Recent bad counts, as if both had the same number of requests.
  double fit_canary = 0;
  double fit_baseline = 0;
  double fit = 0;
  bool operator==(const Stream&) const = default;
};
BOOST_DESCRIBE_STRUCT(Stream, (), (stakes, credits, spread, spread_of, drift, drift_of, fit_canary, fit_baseline, fit))

// Bad requests may come in groups; each group counts as if it were one request. 1: they are independent.
struct Grouping {
  double against = 1;
  double for_ = 1;
};
Grouping grouping_of(const Stream& stream);

// `share` of the baseline's earlier requests was bad. `restart` is put on every stake.
void lay_bets(Stream& stream, const Bounds& bounds, double share, const Sample& sample, const Grouping& grouping,
              double restart, double beta);
// After lay_bets: looks how the window's bad requests are spread over the two.
void watch_spread(Stream& stream, const Sample& sample);
// Looks how far the baseline's window is from what was known: `known_bad` of `known` requests.
void watch_drift(Stream& stream, double known, double known_bad, double baseline, double baseline_bad);

double against(const Stream& stream);
double for_(const Stream& stream);

// How many more requests to the canary a stream needs until it is healthy, if the canary is as good as the baseline, of
// which `share` is bad and `far` bad beyond the margin, and which gets `per_canary` requests for each of the canary's.
// Nothing: no number is enough.
std::optional<double> requests_needed(const Stream& stream, const Bounds& bounds, double share, double far,
                                      double per_canary, const Grouping& grouping, double beta);

// The smallest share of bad requests that would have been noticed in so many requests; nothing if none would.
std::optional<double> smallest_noticed(const Bounds& bounds, double share, double per_canary, double canary,
                                       const Grouping& grouping, double odds);

}  // namespace sluice::judge
