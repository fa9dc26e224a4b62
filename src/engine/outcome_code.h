// What an outcome means to a door: its code in base's table, by which commands exit and HTTP answers.
#pragma once

#include "base/code.h"
#include "engine/journal/step.h"
#include "lang/check/symbols.h"
#include "lang/run/handler.h"

namespace sluice::engine {

// The engine's own outcomes have fixed codes.
Code code_of(lang::EngineOutcome outcome);

// A variant has the code that its `@code(…)` names; without one `ok` is ok, and any other failed.
Code code_of(const lang::ActionSymbol& action, const std::string& variant);

}  // namespace sluice::engine
