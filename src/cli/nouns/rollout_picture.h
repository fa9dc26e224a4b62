// How a rollout looks to a person: the picture that `rollout status` prints and `rollout watch` redraws, and the one
// line of it for logs.
#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"
#include "deploy/views/rollouts.h"

namespace sluice::cli {

Style style_of(deploy::rollout::RolloutStatus status);

// Small bars, one a value, the newest last: ▁▂▅█. All equal: all low.
std::string sparkline(const std::vector<double>& values, size_t width);

std::string picture_of(const deploy::views::RolloutView& view, const Terminal& terminal);

// "hello@2 running step 1/3 at 10%: stays at 10% for another 3s", without what changes every second.
std::string line_of(const deploy::views::RolloutView& view);

}  // namespace sluice::cli
