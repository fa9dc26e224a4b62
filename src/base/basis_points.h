// Shares of a whole in basis points: one is a hundredth of a percent, 10,000 are all of it. Traffic and tolerances
// are counted in them, so that shares add up exactly.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice {

constexpr int kAllBasisPoints = 10'000;

// Reads `1%`, `0.05%` or `25bps`: 0 to 10,000 basis points, and no finer than one.
Result<int> parse_basis_points(std::string_view text);

// As a percentage, without needless digits: 5 is 0.05%, 1250 is 12.5%.
std::string print_basis_points(int bps);

}  // namespace sluice
