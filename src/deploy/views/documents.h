// The objects as documents that people and programs read: sluice.environment.v1, sluice.bundle-deployment.v1,
// sluice.revision.v1, sluice.traffic-split.v1. What is not there is null, so that a document always has all its fields.
#pragma once

#include "base/document.h"
#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "revision.gen.h"

namespace sluice::deploy::views {

json::object environment_document(const States& states, const env::EnvFound& found);
json::object deployment_document(const States& states, const deployment::DeploymentFound& found);
json::object revision_document(const revision::RevisionFound& found);
// Null if the deployment has no split, or an empty one.
json::value split_document(const States& states, const deployment::DeploymentFound& found);
// Splits before and after the one that counts, newest first.
json::array split_history(const States& states, const std::string& deployment);
json::object config_document(const States& states, const std::string& environment);

// Those that are not archived: of a deployment, by sequence, or of an environment.
std::vector<revision::RevisionFound> live_revisions_of(const States& states, const std::string& deployment);
std::vector<revision::RevisionFound> live_revisions_in(const States& states, const std::string& environment);

}  // namespace sluice::deploy::views
