// sluice kit run: runs an action of a kit, or goes on with what an earlier run has left open.
#pragma once

#include "cli/command.h"

namespace sluice::cli {

Command kit_run_command();

}  // namespace sluice::cli
