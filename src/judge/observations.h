// Counts in a file, `sluice.observations.v1`: what `sluice judge` reads, in YAML or JSON. docs/guide/judge.md has one.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "judge/counts.h"
#include "judge/settings.h"
#include "judge/verdict.h"

namespace sluice::judge {

inline constexpr std::string_view kObservationsSchema = "sluice.observations.v1";

enum class Counted { windows, totals };
BOOST_DESCRIBE_ENUM(Counted, windows, totals)

struct Observations {
  std::string schema;
  std::string baseline = "baseline";  // how the verdict calls the two
  std::string canary = "canary";
  Counted counted = Counted::windows;  // totals: every window has the counts since the beginning, the first as well
  Settings settings;
  std::vector<double> latency_ends_us;  // of the histograms' buckets; none: the judge's own
  std::vector<Counts> history;          // windows of the baseline from before the canary
  std::vector<Window> windows;
  static constexpr std::string_view kDefaulted[] = {"baseline", "canary",          "counted",
                                                    "settings", "latency_ends_us", "history"};
};
BOOST_DESCRIBE_STRUCT(Observations, (),
                      (schema, baseline, canary, counted, settings, latency_ends_us, history, windows))

// Errors say the place in the text.
Result<Observations> parse_observations(std::string_view text, const std::string& file = "");

// The verdict after the last window, or after the one that made it unhealthy.
Verdict verdict_on(const Observations& observations);

}  // namespace sluice::judge
