// An environment as a file that can be applied again, and what would have to be done so that it is as a file says.
//
// A file is a sluice.environment.v1, as `env export` and `env show -o yaml` print it. What only the engine decides
// (generations, times, health, splits) may stand in it and counts for nothing; its revisions only say where the
// archives of bundles that are not deployed yet can be found.
#pragma once

#include <string>
#include <vector>

#include "base/document.h"
#include "base/result.h"
#include "deploy/views/states.h"
#include "env.gen.h"

namespace sluice::deploy::views {

struct ExportedEnvironment;  // deploy/views/environment_file.h
ExportedEnvironment exported_environment(const States& states, const env::EnvFound& found);

struct PlannedChange {
  char sign = '~';  // + made, ~ changed, - taken away
  std::string what;
  std::string action;
  json::object input;
  // The deployment is the one that was added last: only whoever makes the changes knows its id.
  bool of_added = false;
  // Of a change of a deployment: which.
  std::string bundle;
  std::string customer;
  // Of a bundle that is brought up: the secrets that it needs, "shop/API_KEY".
  std::vector<std::string> secrets;
};

struct EnvironmentPlan {
  std::string environment;
  std::vector<PlannedChange> changes;  // in the order in which they are to be made
};

// With `prune`, packs, host values and deployments that the file does not have are taken away. Unknown fields are
// errors that name their place. A bundle that is not deployed is added if the file says where its archive is.
Result<EnvironmentPlan> plan_environment(const States& states, const Document& file, bool prune);

}  // namespace sluice::deploy::views
