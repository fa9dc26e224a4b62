// What the view `status` says, as a tree: environment, deployment, revision, replica.
#pragma once

#include <string>

#include "base/terminal.h"
#include "host/status_view.h"

namespace sluice::cli {

// Empty where nothing is deployed. Where it is not served, `sluice serve` is the next step for all of it, so the tree
// names none.
std::string status_tree(const host::StatusDocument& status, const Terminal& terminal, bool served = true);

}  // namespace sluice::cli
