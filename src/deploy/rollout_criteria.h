// How strictly a rollout is judged: the `analysis` of a manifest and the criteria of Rollout/begin, a JSON object.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "deploy/metrics_source.h"
#include "judge/settings.h"

namespace sluice::deploy {

struct RolloutCriteria {
  int64_t interval = 10;                // seconds between two looks
  std::optional<double> maxErrorRate;   // a share: 0.01 is 1 %
  std::optional<double> maxLatencyP99;  // milliseconds
  double alpha = 0.001;                 // how often a rollout that is no worse may be aborted
  double beta = 0.05;                   // how often a step that is beyond the margin may pass
  double warmUp = 60;                   // seconds whose latencies do not count: the new revision's caches are cold
  double settle = 20;                   // the same after its weight has risen
  double latencyFloor = 5;              // milliseconds: all that is quicker is equally quick
  std::optional<MetricsSource> source;  // who counts, if not the routers
  static constexpr std::string_view kDefaulted[] = {"interval", "alpha", "beta", "warmUp", "settle", "latencyFloor"};
};
BOOST_DESCRIBE_STRUCT(RolloutCriteria, (),
                      (interval, maxErrorRate, maxLatencyP99, alpha, beta, warmUp, settle, latencyFloor, source))

// Empty text: the defaults. What no judge can be made of is `invalid`.
Result<RolloutCriteria> parse_criteria(std::string_view text);
judge::Settings settings_of(const RolloutCriteria& criteria);

}  // namespace sluice::deploy
