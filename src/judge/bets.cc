// Names in the formulas are those of docs/internals/judge.md: d the size of a bet, k how much of it the baseline's
// requests take back, L the tolerated share, p the share that is known.
#include "judge/bets.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sluice::judge {
namespace {

// Bets on a canary that is so many times as bad as tolerated.
constexpr double kGrow[] = {1.1, 1.3, 1.8, 3.5, 10, 50};
// The sizes of the bets on a canary that is better than the margin.
constexpr double kBelow[] = {0.2, 0.5, 0.75, 0.92};
constexpr double kCap = 2.995732273553991;  // ln 20, what a window can win at most: two bad ones never suffice
constexpr double kMostStake = 1e12;
constexpr double kForget = 0.997;  // a window, of spread and drift
constexpr double kForgetFit = 0.9;
constexpr double kGroupingWeight = 3;  // how much of an excess of spread counts
constexpr double kMostDrift = 8;
constexpr double kShares[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1};

// The logarithm of what a bet makes of a window.
double won(double d, double k, double L, double p, double nc, double xc, double nb, double xb) {
  double sum = 0;
  if (xc > 0) sum += xc * std::log(1 + d * (1 - L));
  if (nc > xc) sum += (nc - xc) * std::log(1 - d * L);
  if (k > 0 && xb > 0) sum += xb * std::log(1 - k * d * (1 - p));
  if (k > 0 && nb > xb && p > 0) sum += (nb - xb) * std::log(1 + k * d * p);
  return sum;
}

double size_of(double grow, double k, double L) { return (grow - 1) / (1 + (grow - 1) * L + k * grow); }

double excess(double spread, double spread_of) { return 1 + kGroupingWeight * ((10 + spread) / (10 + spread_of) - 1); }

double tolerated(const Bounds& bounds, double share) { return bounds.tolerated_ratio * share + bounds.tolerated_plus; }

}  // namespace

Grouping grouping_of(const Stream& stream) {
  double against = std::max(1.0, excess(stream.spread, stream.spread_of));
  return {.against = against,
          .for_ = std::max(against, std::clamp(excess(stream.drift, stream.drift_of), 1.0, kMostDrift))};
}

void lay_bets(Stream& stream, const Bounds& bounds, double share, const Sample& sample, const Grouping& grouping,
              double restart, double beta) {
  double L = tolerated(bounds, share);
  double per_baseline = sample.baseline > 0 ? sample.canary / sample.baseline : 0;
  double k = bounds.tolerated_ratio * per_baseline;
  for (size_t i = 0; i < std::size(kGrow); ++i) {
    double win = won(size_of(kGrow[i], k, L), k, L, share, sample.canary, sample.canary_bad, sample.baseline,
                     sample.baseline_bad);
    double& stake = stream.stakes[i];
    stake = std::min((stake + restart) * std::exp(std::min(win / grouping.against, kCap)), kMostStake);
  }
  k = bounds.margin_ratio * per_baseline;
  double most_credit = std::log(1 / beta) + 3;
  for (size_t i = 0; i < std::size(kBelow); ++i) {
    double win = won(-kBelow[i], k, bounds.margin_plus, 0, sample.canary, sample.canary_far, sample.baseline,
                     sample.baseline_bad);
    double& credit = stream.credits[i];
    credit = std::min(credit + std::min(win / grouping.for_, kCap), most_credit);
  }
}

void watch_spread(Stream& stream, const Sample& sample) {
  if (sample.canary <= 0 || sample.baseline <= 0) return;
  double all = sample.canary + sample.baseline, bad = sample.canary_bad + sample.baseline_bad;
  stream.spread *= kForget;
  stream.spread_of *= kForget;
  if (stream.fit > 0) {
    double ratio = (stream.fit_canary + 0.25) / (stream.fit_baseline + 0.25);
    double expected = sample.canary * ratio / (sample.canary * ratio + sample.baseline);
    double off = sample.canary_bad - bad * expected;
    stream.spread += off * off * stream.fit / (stream.fit + bad);
    stream.spread_of += bad * expected * (1 - expected) * (1 - bad / all);
  }
  stream.fit_canary = kForgetFit * stream.fit_canary + sample.canary_bad * sample.baseline / all;
  stream.fit_baseline = kForgetFit * stream.fit_baseline + sample.baseline_bad * sample.canary / all;
  stream.fit = kForgetFit * stream.fit + bad;
}

void watch_drift(Stream& stream, double known, double known_bad, double baseline, double baseline_bad) {
  if (known <= 0 || baseline <= 0) return;
  double share = known_bad / known, off = baseline_bad - baseline * share;
  stream.drift = kForget * stream.drift + off * off * known / (known + baseline);
  stream.drift_of = kForget * stream.drift_of + baseline * share * (1 - share);
}

double against(const Stream& stream) {
  return std::accumulate(stream.stakes.begin(), stream.stakes.end(), 0.0) / static_cast<double>(stream.stakes.size());
}

double for_(const Stream& stream) {
  double sum = 0;
  for (double credit : stream.credits) sum += std::exp(credit);
  return sum / static_cast<double>(stream.credits.size());
}

std::optional<double> requests_needed(const Stream& stream, const Bounds& bounds, double share, double far,
                                      double per_canary, const Grouping& grouping, double beta) {
  if (for_(stream) >= 1 / beta) return 0;
  double k = per_canary > 0 ? bounds.margin_ratio / per_canary : 0;
  std::optional<double> least;
  for (size_t i = 0; i < std::size(kBelow); ++i) {
    double each = won(-kBelow[i], k, bounds.margin_plus, 0, 1, far, per_canary, per_canary * share);
    if (each <= 0) continue;
    double need = (std::log(4 / beta) - stream.credits[i]) * grouping.for_ / each;
    if (!least || need < *least) least = std::max(need, 0.0);
  }
  return least;
}

std::optional<double> smallest_noticed(const Bounds& bounds, double share, double per_canary, double canary,
                                       const Grouping& grouping, double odds) {
  double L = tolerated(bounds, share), k = per_canary > 0 ? bounds.tolerated_ratio / per_canary : 0;
  for (double bad : kShares) {
    if (bad <= L) continue;
    for (double grow : kGrow) {
      double each = won(size_of(grow, k, L), k, L, share, 1, bad, per_canary, per_canary * share);
      if (each > 0 && std::log(odds) * grouping.against / each <= canary) return bad;
    }
  }
  return std::nullopt;
}

}  // namespace sluice::judge
