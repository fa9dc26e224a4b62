// The words in which people give a split: `r2=1% r1=rest`. Weights are 1%, 0.05% or 25bps; one revision may get the
// rest.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice::cli {

struct WeightWord {
  std::string revision;  // as it was given
  int64_t weight_bps = 0;

  bool operator==(const WeightWord&) const = default;
};

Result<std::vector<WeightWord>> read_weights(std::span<const std::string> words);

}  // namespace sluice::cli
