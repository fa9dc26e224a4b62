// The revisions that may still run: all but those that are archived.
#pragma once

#include <set>
#include <string>

#include "lang/run/handler.h"

namespace sluice::deploy::views {

std::set<std::string> living_revisions(const lang::Snapshot& snapshot);

}  // namespace sluice::deploy::views
