// The revision of a deployment with most traffic: what people mean by the deployment.
#pragma once

#include <string>

#include "deploy/views/states.h"
#include "lang/run/handler.h"

namespace sluice::deploy::views {

// The newest of several with the same share; empty if none gets anything.
std::string leading_revision(const States& states, const std::string& deployment);
std::string leading_revision(const lang::Snapshot& snapshot, const std::string& deployment);

}  // namespace sluice::deploy::views
