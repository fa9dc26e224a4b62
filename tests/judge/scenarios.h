// What the judge must tell apart: versions that are no worse, however the traffic moves, and versions that are, however
// they hide it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "traffic.h"

namespace sluice::judge::simulation {

enum class Truth {
  no_worse,  // to be called unhealthy in at most alpha of the runs
  between,   // worse than tolerated and within the margin: either verdict is right, in the end it is to be found
  worse,     // to be called healthy in at most beta of the runs, at any look
  turns      // becomes worse on the way: to be called healthy at the end in at most beta of the runs
};

// What a moment of a run is like.
struct Moment {
  double per_second = 100;
  int64_t weight_bps = 500;
  Version baseline;
  Version canary;
};

struct Scenario {
  std::string name;
  Truth truth = Truth::worse;
  double look_s = 10;
  double hours = 1;
  Buckets buckets = {};
  // Of the seconds since the start; the dice are for what happens by chance to a whole window.
  std::function<Moment(double at_s, Dice&)> moment;
};

const std::vector<Scenario>& scenarios();

// One run of a scenario, window by window. Versions that occurred before are kept in `known`, which runs may share.
class Run {
 public:
  using Known = std::map<std::array<double, 4>, Fates>;

  Run(const Scenario& scenario, uint64_t seed, Known& known) : scenario_(scenario), dice_(seed), known_(known) {}

  Counts before();  // a window of the baseline alone, from before the canary
  bool is_over() const { return at_s_ >= scenario_.hours * 3'600; }
  double at_s() const { return at_s_; }
  const Window& next();

 private:
  const Fates& fates(const Version& version);

  const Scenario& scenario_;
  Dice dice_;
  Known& known_;
  double at_s_ = 0;
  Window window_;
};

}  // namespace sluice::judge::simulation
