// The steps of a rollout as people write them: "10%", "10%:5m", "10%:manual".
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rollout.gen.h"

namespace sluice::deploy::rollout {

// Weights rise, and the last one is 100%, which is added where it is missing. `invalid` names the step.
Result<std::vector<RolloutStep>> parse_steps(const std::vector<std::string>& texts, RolloutStrategy strategy);

}  // namespace sluice::deploy::rollout
