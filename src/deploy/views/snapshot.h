// What a router obeys, before it is signed: sluice.runtime-config.v1 with the generations, routes and endpoints of
// every active deployment of an environment that has a split.
#pragma once

#include <string>

#include "base/document.h"
#include "deploy/views/states.h"

namespace sluice::deploy::views {

json::object router_snapshot(const States& states, const std::string& environment);

}  // namespace sluice::deploy::views
