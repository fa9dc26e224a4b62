// Which archives calls that are open still need.
#pragma once

#include <string>

#include "lang/run/handler.h"

namespace sluice::deploy::views {

// Whether an up that is open, or a document that is being applied, names the archive of this source.
bool is_wished_for(const lang::Snapshot& snapshot, const std::string& source);

}  // namespace sluice::deploy::views
