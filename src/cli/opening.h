// A command line as the host takes it: the home that it means, who asks and why, and how long it may wait.
#pragma once

#include "cli/context.h"
#include "host/kit_place.h"
#include "host/opening.h"

namespace sluice::cli {

// --lock-timeout, of every command that opens the store.
Option lock_timeout_option();
// --customer-id, of every command that takes the name of a deployment, a revision or a replica.
Option customer_option();

// Whether the command has an option of this name.
bool takes(const Given& given, std::string_view option);

Result<host::Home> home_of(const Context& context);
// What this program can run; nothing in one that has no handlers.
const host::LoadedConcepts& concepts_of(const Context& context);
Result<host::Opening> opening_of(const Context& context);

Result<host::KitPlace> kit_place_of(const Context& context, const std::string& given);
// A kit's folder as the store and other processes name it.
std::string absolute_folder(const std::string& kit);
lang::Checked check_kit_at(const Context& context, const host::KitPlace& place, bool strict = false);

}  // namespace sluice::cli
