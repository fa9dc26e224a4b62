// What the judge says of a canary: a word, the sentence that explains it, and the numbers behind both.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::judge {

inline constexpr std::string_view kVerdictSchema = "sluice.verdict.v1";
inline constexpr double kDoubt = 20;  // with so much against it a canary is not called healthy

enum class Outcome { healthy, unhealthy, insufficientData };
BOOST_DESCRIBE_ENUM(Outcome, healthy, unhealthy, insufficientData)

// Of one metric. `against` reaches 1/alpha if the canary is worse, `for` 1/beta if it is within the margin.
struct Metric {
  std::string name;               // errors, p50, p90, p99, max_error_rate, max_latency_p99, or that of a limit
  std::optional<double> over_ms;  // of latencies: slower requests are the bad ones
  std::optional<double> limit;    // of limits: the share that may be bad
  double canary_requests = 0;
  double canary_bad = 0;
  double baseline_requests = 0;
  double baseline_bad = 0;
  double seconds = 0;  // that these counts are of
  double against = 0;
  double for_ = 0;
  double grouping = 1;                     // bad requests come in groups of this many
  std::optional<double> requests_needed;   // more, to the canary, until it is healthy
  std::optional<double> smallest_noticed;  // a version with this share of bad requests would have shown by now
};
BOOST_DESCRIBE_STRUCT(Metric, (),
                      (name, over_ms, limit, canary_requests, canary_bad, baseline_requests, baseline_bad, seconds,
                       against, for_, grouping, requests_needed, smallest_noticed))

struct Verdict {
  std::string schema = std::string(kVerdictSchema);
  Outcome verdict = Outcome::insufficientData;
  std::string sentence;
  std::string metric;  // the one that speaks most against the canary
  double against = 0;  // of all metrics together: unhealthy at 1/alpha
  double alpha = 0;
  double beta = 0;
  double seconds = 0;  // of this step, as are the requests
  double canary_requests = 0;
  double canary_failed = 0;
  double baseline_requests = 0;
  double baseline_failed = 0;
  int64_t windows = 0;          // that were compared, of all steps
  int64_t dropped_windows = 0;  // whose counts could not be
  std::optional<double> requests_needed;
  std::optional<double> seconds_needed;  // at the present rate
  double margin_latency_ratio = 0;       // healthy: latencies within this ratio
  std::vector<Metric> metrics;
};
BOOST_DESCRIBE_STRUCT(Verdict, (),
                      (schema, verdict, sentence, metric, against, alpha, beta, seconds, canary_requests, canary_failed,
                       baseline_requests, baseline_failed, windows, dropped_windows, requests_needed, seconds_needed,
                       margin_latency_ratio, metrics))

}  // namespace sluice::judge
