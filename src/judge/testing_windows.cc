// The vectors are those of docs/internals/judge.md.
#include "judge/testing_windows.h"

#include <sstream>

namespace sluice::judge {

Counts counts_of(double failed, const std::string& latencies) {
  Counts counts{.requests = failed, .failed = failed};
  std::istringstream text(latencies);
  size_t bucket = 0;
  char colon = 0;
  double count = 0;
  while (text >> bucket >> colon >> count) {
    if (counts.latencies.size() <= bucket) counts.latencies.resize(bucket + 1);
    counts.latencies[bucket] = count;
    counts.requests += count;
  }
  return counts;
}

Counts old_version() {
  return counts_of(1, "18:100 19:120 20:140 21:140 22:130 23:110 24:85 25:55 26:30 27:18 28:11 29:6 30:3 31:1");
}

Counts new_version(double failed) {
  return counts_of(failed, "18:5 19:6 20:8 21:7 22:7 23:6 24:4 25:3 26:2 27:1 28:1");
}

Settings without_warm_up() { return {.warm_up_s = 0, .settle_s = 0}; }

namespace {

std::vector<Window> times(size_t count, const Counts& canary) {
  return std::vector<Window>(count, Window{.baseline = old_version(), .canary = canary});
}

// Three kinds of windows in turn, of which only the first has a request to the canary and only the second one to the
// baseline; two of them are ten seconds, as is a window of the others.
std::vector<Window> few_requests() {
  std::vector<Window> windows;
  for (int i = 1; i <= 30; ++i) {
    Counts canary = i == 10 || i == 20 ? counts_of(1, "") : counts_of(0, "20:1");
    windows.push_back({.seconds = 5, .canary = canary});
    windows.push_back({.seconds = 5, .baseline = counts_of(0, "20:1")});
    windows.push_back({.seconds = 0});
  }
  return windows;
}

}  // namespace

std::vector<Vector> vectors() {
  const std::vector<Counts> history(10, old_version());
  std::vector<Window> burst = times(20, new_version());
  burst.push_back({.baseline = old_version(), .canary = counts_of(40, "20:10")});
  for (const Window& each : times(5, new_version())) burst.push_back(each);
  Settings limited = without_warm_up();
  limited.max_error_rate = 0.01;
  return {
      {.name = "A",
       .settings = without_warm_up(),
       .windows = times(1, new_version()),
       .rows = {{0.394453, 1.20867}, {0.5, 1}, {0.5, 1}, {0.5, 1}},
       .against = 0.473613,
       .outcome = Outcome::insufficientData,
       .needed = 1272.49},
      {.name = "B",
       .settings = without_warm_up(),
       .history = history,
       .windows = times(4, counts_of(3, "18:5 19:6 20:5 21:7 22:7 23:6 24:4 25:3 26:2 27:1 28:1")),
       .rows = {{39645.1, 0.0243333}, {0.106281, 29.5032}, {0.117170, 4.97164}, {0.121798, 5.06608}},
       .against = 9911.36,
       .outcome = Outcome::unhealthy,
       .grouping = 1.05663},
      {.name = "C",
       .settings = without_warm_up(),
       .history = history,
       .windows = times(14, new_version()),
       .rows = {{0.200817, 23.7433}, {0.00985198, 200.855}, {0.0360697, 200.981}, {0.0418309, 225.234}},
       .against = 0.0721424,
       .outcome = Outcome::healthy},
      {.name = "D",
       .settings = without_warm_up(),
       .history = history,
       .windows = times(4, counts_of(0, "18:5 19:6 20:8 21:7 22:7 23:6 24:4 25:3 30:2 33:2")),
       .rows = {{0.294511, 2.22325}, {0.0508583, 183.881}, {0.0895165, 10.1958}, {26742.7, 0.0118653}},
       .against = 6685.78,
       .outcome = Outcome::unhealthy},
      {.name = "E",
       .settings = without_warm_up(),
       .history = history,
       .windows = burst,
       .rows = {{3.47969, 0.000126710}, {0.00118042, 200.855}, {0.0153780, 201.074}, {0.0186549, 307.871}},
       .against = 0.878725,
       .outcome = Outcome::insufficientData,
       .grouping = 68.2485},
      {.name = "F",
       .settings = limited,
       .history = {counts_of(0, "20:60")},
       .windows = few_requests(),
       .rows =
           {{1.10065, 0.252561}, {0.444235, 2.41097}, {0.478408, 1.28896}, {0.498840, 1.04250}, {1.55801, 0.266370}},
       .against = 0.816027,
       .outcome = Outcome::insufficientData,
       .needed = 1879.42},
  };
}

}  // namespace sluice::judge
