// Where an environment's containers run: the socket that an operator has named for it as `container_engine`; and
// whether its deployer runs nothing else.
#pragma once

#include <string>

#include "lang/run/handler.h"

namespace sluice::deploy::views {

// Empty if none is named.
std::string container_engine(const lang::Snapshot& snapshot, const std::string& environment);
bool runs_containers_alone(const lang::Snapshot& snapshot, const std::string& environment);

}  // namespace sluice::deploy::views
