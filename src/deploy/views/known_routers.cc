// By environment, then in the order in which they registered.
#include "deploy/views/known_routers.h"

#include "deploy/views/states.h"
#include "router.gen.h"

namespace sluice::deploy::views {

std::vector<KnownRouter> known_routers(const lang::Snapshot& snapshot) {
  const States states(snapshot);
  std::vector<KnownRouter> all;
  for (const auto& table : states.router().all()) {
    for (const auto& each : states.router().members(table.id).values()) {
      all.push_back({.environment = table.id.text(),
                     .member = {.router = each.router, .name = each.name, .control = each.control}});
    }
  }
  return all;
}

}  // namespace sluice::deploy::views
