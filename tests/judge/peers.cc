// The confidence interval of a shift is made of the pairwise differences, as R's wilcox.test does for samples of this
// size: by the normal approximation, corrected for ties.
#include "peers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace sluice::judge::simulation {
namespace {

constexpr size_t kMostMinutes = 60;

}  // namespace

bool Minutes::add(const Window& window) {
  gathered_.seconds += window.seconds;
  judge::add(gathered_.baseline, window.baseline);
  judge::add(gathered_.canary, window.canary);
  if (gathered_.seconds < 60) return false;
  minute = std::exchange(gathered_, {.seconds = 0});
  return true;
}

double mean_ms(const Counts& counts, const Buckets& buckets) {
  double sum = 0, all = 0;
  for (size_t i = 0; i < counts.latencies.size(); ++i) {
    double end = buckets.ends_us()[std::min(i, buckets.ends_us().size() - 1)];
    double from = i == 0 ? 0 : buckets.ends_us()[i - 1];
    sum += counts.latencies[i] * (from + end) / 2'000;
    all += counts.latencies[i];
  }
  return all > 0 ? sum / all : 0;
}

double quantile_ms(const Counts& counts, const Buckets& buckets, double share) {
  Tails tails(counts.latencies, buckets.size());
  if (tails.all() <= 0) return 0;
  size_t end = tails.end_of_tail(1 - share);
  if (end >= buckets.ends_us().size()) return buckets.ends_us().back() / 1'000;
  double before = end == 0 ? tails.all() : tails.above(end - 1), here = before - tails.above(end);
  double from = end == 0 ? 0 : buckets.ends_us()[end - 1];
  double within = here > 0 ? (before - (1 - share) * tails.all()) / here : 1;
  return (from + (buckets.ends_us()[end] - from) * within) / 1'000;
}

bool FixedJudge::is_worse(const Window& minute) const {
  const Counts& canary = minute.canary;
  return canary.requests > 0 && (canary.failed > 0.01 * canary.requests || quantile_ms(canary, buckets_, 0.99) > 500);
}

bool is_high(const std::deque<double>& baseline, const std::deque<double>& canary) {
  double n = static_cast<double>(canary.size()), m = static_cast<double>(baseline.size());
  std::vector<double> differences;
  std::map<double, double> values;
  for (double x : canary) {
    values[x] += 1;
    for (double y : baseline) differences.push_back(x - y);
  }
  for (double y : baseline) values[y] += 1;
  double ties = 0;
  for (const auto& [value, count] : values) ties += count * count * count - count;
  double spread = std::sqrt(n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1))));
  if (spread <= 0) return false;
  double lowest = n * m / 2 - 0.5 - 2.3263 * spread;  // so many differences may lie below
  if (lowest < 0) return false;
  auto at = [&](double rank) {
    auto place = differences.begin() + static_cast<ptrdiff_t>(rank);
    std::nth_element(differences.begin(), place, differences.end());
    return *place;
  };
  double estimate = at(n * m / 2), lower = at(lowest);
  return lower > 0.25 * std::abs(estimate);
}

bool MannWhitneyJudge::is_worse(const Window& minute) {
  auto rate = [](const Counts& counts) { return counts.requests > 0 ? counts.failed / counts.requests : 0; };
  const std::pair<double, double> values[] = {
      {rate(minute.baseline), rate(minute.canary)},
      {mean_ms(minute.baseline, buckets_), mean_ms(minute.canary, buckets_)},
      {quantile_ms(minute.baseline, buckets_, 0.99), quantile_ms(minute.canary, buckets_, 0.99)}};
  if (minute.baseline.requests > 0 && minute.canary.requests > 0) {
    for (size_t i = 0; i < std::size(values); ++i) {
      metrics_[i].baseline.push_back(values[i].first);
      metrics_[i].canary.push_back(values[i].second);
      if (metrics_[i].canary.size() > kMostMinutes) {
        metrics_[i].baseline.pop_front();
        metrics_[i].canary.pop_front();
      }
    }
  }
  ++minutes_;
  if (minutes_ < 10 || minutes_ % 5 != 0 || metrics_[0].canary.size() < 5) return false;
  return std::ranges::any_of(metrics_, [](const Points& each) { return is_high(each.baseline, each.canary); });
}

}  // namespace sluice::judge::simulation
