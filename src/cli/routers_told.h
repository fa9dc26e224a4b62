// What a person hears of the routers after a change, and how a router that was just started becomes known.
#pragma once

#include "cli/command_door.h"
#include "cli/context.h"
#include "deploy/views/objects.h"
#include "host/background.h"

namespace sluice::cli {

// How far the routers are with the newest table. What follows from a change may just be on its way to them: so those
// that neither obey yet nor are in trouble are given a moment.
Result<deploy::views::RoutersView> routers_of(CommandDoor& door, const std::string& environment);

// Call it when the change has settled. Says that the routers obey, which of them do not, or that there is none.
void tell_of_routers(Context& context, const deploy::views::RoutersView& routers);

// Makes the router of local known to the control plane at once, and not only when that looks next.
Result<void> introduce_router(CommandDoor& door, const host::RouterHere& here);

}  // namespace sluice::cli
