// Two other ways to judge, to compare with on the same windows. Both look at minutes.
//
//   FixedJudge        a limit for each: more than 1 % of errors, or a p99 above 500 ms
//   MannWhitneyJudge  Kayenta's rules: error rate, mean and p99 of the minutes so far, at most sixty, every five
//                     minutes from the tenth on. A metric is high if the 98 % confidence interval of the shift between
//                     canary and baseline lies above a quarter of its Hodges–Lehmann estimate
#pragma once

#include <deque>
#include <vector>

#include "judge/buckets.h"
#include "judge/counts.h"

namespace sluice::judge::simulation {

// Windows gathered to minutes.
class Minutes {
 public:
  // Whether a minute is complete with this window; then it is in `minute`.
  bool add(const Window& window);
  Window minute;

 private:
  Window gathered_{.seconds = 0};
};

class FixedJudge {
 public:
  explicit FixedJudge(const Buckets& buckets) : buckets_(buckets) {}
  bool is_worse(const Window& minute) const;

 private:
  const Buckets& buckets_;
};

class MannWhitneyJudge {
 public:
  explicit MannWhitneyJudge(const Buckets& buckets) : buckets_(buckets) {}
  // Called each minute.
  bool is_worse(const Window& minute);

 private:
  struct Points {
    std::deque<double> baseline, canary;
  };
  const Buckets& buckets_;
  Points metrics_[3];
  int minutes_ = 0;
};

// Whether the canary's values are high, by the rules above.
bool is_high(const std::deque<double>& baseline, const std::deque<double>& canary);

double mean_ms(const Counts& counts, const Buckets& buckets);
double quantile_ms(const Counts& counts, const Buckets& buckets, double share);

}  // namespace sluice::judge::simulation
