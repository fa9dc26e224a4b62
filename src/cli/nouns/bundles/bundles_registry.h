// `sluice bundles push` and `sluice bundles pull`: bundles in OCI registries.
#pragma once

#include "cli/command.h"

namespace sluice::cli {

Command bundles_push_command();
Command bundles_pull_command();

}  // namespace sluice::cli
