// The session pins of a table's deployments, for the worker that takes the place of this one. Both must have compiled
// their tables with the same hash key.
#pragma once

#include <string>
#include <string_view>

#include "router/table/table.h"

namespace sluice::router {

std::string saved_pins(const Table& table);
// What is damaged, or is of deployments and revisions that the table does not have, is left out.
void take_pins(const Table& table, std::string_view saved);

}  // namespace sluice::router
