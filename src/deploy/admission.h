// What of the kit can be called from outside, and with what. Some actions are called by syncs alone: they keep what
// another concept has found out (Config/discover, Revision/move), or are a part of something larger (Revision/fetch).
// Nobody else may: not through `kit run`, not through a command, not through the API. And some values must never be
// written down, so they are looked at before a call is recorded.
//
// Both are the `check` of an action's binding, which is asked where a call from outside is taken, before anything is
// journaled, and never for what a sync asks for.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lang/binding.h"

namespace sluice::deploy {

// "Concept/action", by name.
std::span<const std::string_view> called_by_syncs_alone();

// The same concepts, with these rules.
std::vector<lang::ConceptBinding> admitted(const std::vector<const lang::ConceptBinding*>& concepts);

}  // namespace sluice::deploy
