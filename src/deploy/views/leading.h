// The revision of a deployment with most traffic: what people mean by the deployment.
#pragma once

#include <cstdint>
#include <string>

#include "deploy/views/states.h"
#include "lang/run/handler.h"

namespace sluice::deploy::views {

// The newest of several with the same share; empty if none gets anything.
std::string leading_revision(const States& states, const std::string& deployment);
std::string leading_revision(const lang::Snapshot& snapshot, const std::string& deployment);

// How many replicas run of a revision.
int64_t replicas_of_revision(const States& states, const std::string& revision);
int64_t replicas_of_revision(const lang::Snapshot& snapshot, const std::string& revision);

}  // namespace sluice::deploy::views
