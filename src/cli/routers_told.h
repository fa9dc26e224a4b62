// What a person hears of the routers after a change: that they obey it, which of them do not, or that there is none.
#pragma once

#include <string>

#include "cli/context.h"
#include "deploy/views/objects.h"
#include "deploy/views/states.h"

namespace sluice::cli {

// Whether each of them obeys the newest table.
bool routers_obey(const deploy::views::States& states, const std::string& environment);

// Call it when the change has settled. Says that the routers obey, which of them do not, or that there is none.
void tell_of_routers(Context& context, const deploy::views::RoutersView& routers);
void tell_of_routers(Context& context, const deploy::views::States& states, const std::string& environment);

}  // namespace sluice::cli
