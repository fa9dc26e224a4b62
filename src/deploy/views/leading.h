// The revision of a deployment with most traffic: what people mean by the deployment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "deploy/views/states.h"
#include "lang/run/handler.h"

namespace sluice::deploy::views {

// The newest of several with the same share; empty if none gets anything.
std::string leading_revision(const States& states, const std::string& deployment);
std::string leading_revision(const lang::Snapshot& snapshot, const std::string& deployment);

// The addresses of the replicas of a component of an app, as routers know them: of the revision with most traffic of
// the deployment that the app's newest plan has brought. None: nothing of it serves.
std::vector<std::string> component_addresses(const lang::Snapshot& snapshot, const std::string& environment,
                                             const std::string& app, const std::string& component);

// How many replicas run of a revision.
int64_t replicas_of_revision(const States& states, const std::string& revision);
int64_t replicas_of_revision(const lang::Snapshot& snapshot, const std::string& revision);

}  // namespace sluice::deploy::views
