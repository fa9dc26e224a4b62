// Who signed a revision, for those who must judge it where it is started.
#pragma once

#include <string>

#include "lang/run/handler.h"

namespace sluice::deploy::views {

// The DSSE envelope that came with the revision; empty if there is none.
std::string statement_of(const lang::Snapshot& snapshot, const std::string& revision);

}  // namespace sluice::deploy::views
