// One question to each router a second.
#include "deploy/router_watch.h"

#include <boost/json.hpp>
#include <set>

namespace sluice::deploy {
namespace {

constexpr int64_t kLookTimeout_ms = 1'000;
constexpr int kLooksBetweenCounts = 300;

}  // namespace

std::string environment_of_router(const std::string& name, const std::string& obeyed) {
  if (!obeyed.empty()) return obeyed;
  return name == "main" ? "local" : name;
}

void RouterWatch::look(const Tell& tell) {
  std::set<std::string> there;
  for (const RouterFleet::Seen& each : fleet_.look(kLookTimeout_ms)) {
    there.insert(each.router);
    if (!each.answers) continue;
    const std::string environment = environment_of_router(each.name, each.environment);
    auto told = told_.find(each.router);
    if (told == told_.end() || told->second.pid != each.pid || told->second.environment != environment) {
      told_[each.router] = {environment, each.name, each.pid, each.generation};
      tell("Router/register", {{"environment", environment},
                               {"router", each.router},
                               {"name", each.name},
                               {"control", each.control},
                               {"generation", each.generation}});
      continue;
    }
    const bool known =
        fleet_.generation_of(each.router) == each.generation || told->second.generation == each.generation;
    if (!fleet_.take_missed(each.router) && known) continue;
    told->second.generation = each.generation;
    tell("Router/acknowledge",
         {{"environment", environment}, {"router", each.router}, {"generation", each.generation}});
  }
  if (!there.empty() && ++looks_ >= kLooksBetweenCounts) {
    looks_ = 0;
    tell("Usage/collect", {});
  }
  std::erase_if(told_, [&](const auto& each) {
    if (there.contains(each.first) || fleet_.has_record(each.second.name)) return false;
    tell("Router/retire", {{"environment", each.second.environment}, {"router", each.first}});
    return true;
  });
}

}  // namespace sluice::deploy
