// The concepts that this program has handlers for, by name, the tools that their effects use, and who
// looks at the world for them. main() fills one; the
// commands that run something find it in their Context.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "lang/check/check.h"
#include "lang/run/binding.h"
#include "lang/run/handler.h"
#include "lang/run/observer.h"

namespace sluice::host {

struct LoadedConcepts {
  std::vector<const lang::ConceptBinding*> concepts;
  lang::Tools tools;
  std::vector<lang::Observer*> observers;  // that look at the world while a kit with their concept runs

  std::string first_action;  // called once in a home in which nothing has run yet, if the kit has it

  const lang::ConceptBinding* find(std::string_view name) const;
};

// Handlers are made from a .concept: those of another one that happens to have the same name must not run. Concepts
// without handlers are left alone.
Result<void> check_handlers(const LoadedConcepts& loaded, const lang::CheckedKit& kit);

}  // namespace sluice::host
