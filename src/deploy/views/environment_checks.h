// The plan of an environment's document as the kit carries it out, checked before the first of its changes is made.
#pragma once

#include <vector>

#include "base/result.h"
#include "bundle/trust/trust_root.h"
#include "deploy/bundle_shelf.h"
#include "deploy/views/environment_plan.h"

namespace sluice::deploy::views {

// The changes with complete inputs, in their order: deployments are named by bundle and customer, as those that are
// still to be made have no id, and what is taken away is taken away whole. An error if an archive is not in the home or
// is another bundle's, if nobody who is trusted vouches for it outside local, if settings do not fit what it asks for,
// or if two deployments would share a route.
Result<std::vector<PlannedChange>> steps_of(const States& states, const EnvironmentPlan& plan, BundleShelf& shelf,
                                            const bundle::TrustRoot& trusted = {});

struct NeededSecret {
  std::string name;      // "shop/API_KEY"
  std::string provider;  // who is to be asked for it
};

// The secrets of what is to be brought up, each once. Whoever is bound by the plan itself cannot be asked yet, so then
// there are none.
std::vector<NeededSecret> secrets_of(const States& states, const EnvironmentPlan& plan,
                                     const std::vector<PlannedChange>& steps);

}  // namespace sluice::deploy::views
