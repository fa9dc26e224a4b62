// What of the kit can be said from outside: some values must never be written down, so they are looked at before a call
// is recorded. That is the `check` of an action's binding, which is asked where a call from outside is taken, before
// anything is journaled, and never for what a sync asks for. Who may call an action at all is said by its `.concept`.
#pragma once

#include <vector>

#include "lang/run/binding.h"

namespace sluice::deploy {

// The same concepts, with this rule.
std::vector<lang::ConceptBinding> admitted(const std::vector<const lang::ConceptBinding*>& concepts);

}  // namespace sluice::deploy
