// sluice bundles build: packs and signs a folder.
#pragma once

#include "cli/command.h"

namespace sluice::cli {

Command bundles_build_command();

}  // namespace sluice::cli
