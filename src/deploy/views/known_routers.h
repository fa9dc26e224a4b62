// The routers that have registered, of all environments, as RouterFleet is told whom to speak to.
#pragma once

#include <string>
#include <vector>

#include "deploy/router_fleet.h"
#include "lang/run/handler.h"

namespace sluice::deploy::views {

struct KnownRouter {
  std::string environment;
  RouterFleet::Member member;
};

std::vector<KnownRouter> known_routers(const lang::Snapshot& snapshot);

}  // namespace sluice::deploy::views
