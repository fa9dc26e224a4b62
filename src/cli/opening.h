// A command line as the host takes it: the home that it means, who asks and why, and how long it may wait.
#pragma once

#include "cli/context.h"
#include "host/kit_place.h"
#include "host/opening.h"

namespace sluice::cli {

// --lock-timeout, of every command that opens the store.
Option lock_timeout_option();

Result<host::Home> home_of(const Context& context);
// What this program can run; nothing in one that has no handlers.
const host::LoadedConcepts& concepts_of(const Context& context);
Result<host::Opening> opening_of(const Context& context);

Result<host::KitPlace> kit_place_of(const Context& context, const std::string& given);
lang::Checked check_kit_at(const Context& context, const host::KitPlace& place, bool strict = false);

}  // namespace sluice::cli
