// The deployment that `sluice up` brings a bundle to, in local, and its routes: those of the bundle, as far as it names
// any.
#pragma once

#include <string>

#include "bundle/manifest/manifest.h"
#include "cli/objects.h"
#include "deployment.gen.h"

namespace sluice::cli {

// The deployment of the bundle, which is made if there is none. Without routes of its own it takes every request, or,
// if another one does, those for NAME.localhost.
Result<deploy::deployment::DeploymentFound> deployment_for(Objects& objects, const bundle::Manifest& manifest,
                                                           const std::string& customer);

// Whether the bundle asks for other routes than its deployment has. One without routes takes what it was given.
bool wants_other_routes(const bundle::Manifest& manifest, const deploy::deployment::DeploymentFound& deployment);

// An error if it cannot have them; nothing is changed.
Result<void> may_have_routes(Objects& objects, const bundle::Manifest& manifest,
                             const deploy::deployment::DeploymentFound& deployment);
Result<void> give_routes(Objects& objects, const bundle::Manifest& manifest,
                         deploy::deployment::DeploymentFound& deployment);

}  // namespace sluice::cli
