// The steps of a rollout as people write them: "10%", "10%:5m", "10%:manual".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::deploy {

inline constexpr std::string_view kCanary = "canary", kBlueGreen = "blue-green", kRolling = "rolling",
                                  kImmediate = "immediate";

struct WrittenStep {
  int64_t weight_bps = 0;
  int64_t pause_s = 0;
  bool manual = false;
};

// The name of a strategy; without one it is canary.
Result<std::string> parse_strategy(const std::string& name);

// Weights rise, and the last one is 100%, which is added where it is missing. Without steps they are those that are
// usual for the strategy. `invalid` names the step.
Result<std::vector<WrittenStep>> parse_steps(const std::vector<std::string>& given, const std::string& strategy);

}  // namespace sluice::deploy
