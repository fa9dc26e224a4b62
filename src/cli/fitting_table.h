// A table on a terminal that is too narrow for it: times without year and milliseconds, no columns that are empty, and
// then without those that people can do without, before anything is cut. Anywhere else it is the table as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"

namespace sluice::cli {

// `dispensable` names columns by their titles, the first to go first.
std::string render_fitting(Table table, const Terminal& terminal,
                           const std::vector<std::string_view>& dispensable = {});

}  // namespace sluice::cli
