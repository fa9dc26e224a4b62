// The deployment that a command line means with <deployment>, by the name of its bundle or by its id, --env and
// --customer-id.
#pragma once

#include "cli/command_door.h"
#include "deploy/views/objects.h"

namespace sluice::cli {

Result<deploy::views::MeantNames> deployment_named(Context& context, CommandDoor& door);

}  // namespace sluice::cli
