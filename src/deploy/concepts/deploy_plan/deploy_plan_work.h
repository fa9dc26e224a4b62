// What DeployPlan's effects work on, as it is journaled between begin and perform.
#pragma once

#include "deploy_plan.gen.h"

namespace sluice::deploy::deploy_plan {

struct PlanWork {
  std::string manifest;
  std::string environment;
  std::string file;
  std::vector<DeployPlanBundle> bundles;
  std::vector<DeployPlanVariable> variables;
  std::vector<std::string> only;
  std::string kit;
  std::string destroy;
};
BOOST_DESCRIBE_STRUCT(PlanWork, (), (manifest, environment, file, bundles, variables, only, kit, destroy))

}  // namespace sluice::deploy::deploy_plan
