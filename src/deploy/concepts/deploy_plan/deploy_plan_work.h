// What DeployPlan's effects work on, as it is journaled between begin and perform.
#pragma once

#include "deploy_plan.gen.h"

namespace sluice::deploy::deploy_plan {

struct PlanWork {
  std::string manifest;
  std::string environment;
  std::string file;
  std::vector<DeployPlanBundle> bundles;
  std::vector<DeployPlanKit> kits;
  std::vector<DeployPlanVariable> variables;
  std::vector<std::string> only;
  std::string kit;
  std::string destroy;
};
BOOST_DESCRIBE_STRUCT(PlanWork, (), (manifest, environment, file, bundles, kits, variables, only, kit, destroy))

// A sync of an app's kit, and what is to run of it.
struct RuleWork {
  std::string environment;
  std::string app;
  std::string kit;
  std::string rule;
  std::string spec;  // empty: nothing
};
BOOST_DESCRIBE_STRUCT(RuleWork, (), (environment, app, kit, rule, spec))

struct RegisterWork {
  RuleWork wanted;
  std::string digestBefore;  // of what runs
  std::string specBefore;
};
BOOST_DESCRIBE_STRUCT(RegisterWork, (), (wanted, digestBefore, specBefore))

struct RestoreWork {
  RuleWork wanted;
};
BOOST_DESCRIBE_STRUCT(RestoreWork, (), (wanted))

}  // namespace sluice::deploy::deploy_plan
