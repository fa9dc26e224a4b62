// One look at each row.
#include "deploy/views/living_revisions.h"

#include "deploy/views/states.h"
#include "revision.gen.h"

namespace sluice::deploy::views {

std::set<std::string> living_revisions(const lang::Snapshot& snapshot) {
  std::set<std::string> living;
  for (const auto& each : States(snapshot).revision().all()) {
    if (each.record.lifecycle != revision::RevisionLifecycle::archived) living.insert(each.id.text());
  }
  return living;
}

}  // namespace sluice::deploy::views
