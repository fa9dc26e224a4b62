// How strict the judge is. The defaults are those whose error rates docs/internals/judge.md gives.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::judge {

// When the canary's share of bad requests is tolerated and when it is beyond the margin, given the baseline's share:
// up to tolerated_ratio × share + tolerated_plus, and from margin_ratio × share + margin_plus on.
struct Bounds {
  double tolerated_ratio = 0;
  double tolerated_plus = 0;
  double margin_ratio = 0;
  double margin_plus = 0;
};
BOOST_DESCRIBE_STRUCT(Bounds, (), (tolerated_ratio, tolerated_plus, margin_ratio, margin_plus))

// At most this share of the canary's requests may fail, or take longer than over_ms.
struct Limit {
  std::string name;
  std::optional<double> over_ms;  // nothing: of failures
  double share = 0;
};
BOOST_DESCRIBE_STRUCT(Limit, (), (name, over_ms, share))

struct Settings {
  double alpha = 0.001;  // of a rollout that is no worse, the chance to be called unhealthy within a day
  double beta = 0.05;    // of a version beyond the margin, the chance to be called healthy in a step
  std::optional<double> max_error_rate;
  std::optional<double> max_latency_p99_ms;
  Bounds errors = {1.05, 0.0001, 1.25, 0.005};
  Bounds p50 = {1.04, 0.01, 1, 0.05};
  Bounds p90 = {1.1, 0.004, 1, 0.015};
  Bounds p99 = {1.2, 0.0005, 1, 0.0025};
  double warm_up_s = 60;  // latencies of the canary's first seconds do not count: its caches are cold
  double settle_s = 20;   // nor those after its weight has risen
  bool alone = false;     // nothing to compare with: the limits alone decide
  std::vector<Limit> limits;
  static constexpr std::string_view kDefaulted[] = {"alpha", "beta",      "errors",   "p50",   "p90",
                                                    "p99",   "warm_up_s", "settle_s", "alone", "limits"};
};
BOOST_DESCRIBE_STRUCT(Settings, (),
                      (alpha, beta, max_error_rate, max_latency_p99_ms, errors, p50, p90, p99, warm_up_s, settle_s,
                       alone, limits))

// Refuses what no test can be made of; the error's path is that of the setting.
Result<void> check(const Settings& settings);

}  // namespace sluice::judge
