// The part of an environment's file that is about its bundles.
#pragma once

#include "base/document.h"
#include "base/result.h"
#include "deploy/views/environment_plan.h"
#include "deploy/views/states.h"
#include "deployment.gen.h"

namespace sluice::deploy::views {

// What must be done to the deployments of plan.environment, added to its changes.
Result<void> plan_bundles(const States& states, const Document& file, bool prune, EnvironmentPlan& plan);

struct ExportedBundle;  // deploy/views/environment_file.h
// A deployment as it stands in a file, with where its newest archive came from and with which config.
ExportedBundle exported_bundle(const States& states, const deployment::DeploymentFound& found);

}  // namespace sluice::deploy::views
