// The rules that follow from a provider's `provides`, for the checker's own files only. They are syncs like written
// ones, called `Provider.action` (on the request, to the provider) and `Provider.action.variant` (on its completion,
// back as an answer), so that everything that reads syncs, from the checker to traces, needs to know nothing of them.
//
// A request is the provider's where the argument that the coordination concept is `routed by` is the provider's `kind`;
// if the action has no such argument, where the row of its first own-typed argument has that field. `row` in a value is
// the coordination row that holds the request. What is not given is taken by name from the provider's completion, then
// from the request, if its type may be given.
#pragma once

#include "lang/check/check_parts.h"

namespace sluice::lang {

void add_provided_rules(Kit& kit, const Symbols& symbols, Report& report);

}  // namespace sluice::lang
