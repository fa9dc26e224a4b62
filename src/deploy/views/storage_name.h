// The name under which the programs of a deployment keep what they store.
#pragma once

#include <string>

#include "lang/run/handler.h"

namespace sluice::deploy::views {

// Of a deployment that an earlier version made it follows from its id.
std::string storage_name(const lang::Snapshot& snapshot, const std::string& deployment);

}  // namespace sluice::deploy::views
