// The concepts that this program has handlers for, by name, the tools that their effects use, and who
// looks at the world for them. main() fills one; the
// commands that run something find it in their Context.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lang/check/check.h"
#include "lang/run/binding.h"
#include "lang/run/handler.h"
#include "lang/run/observer.h"

namespace sluice::host {

class PackConcepts;

struct LoadedConcepts {
  std::vector<const lang::ConceptBinding*> concepts;
  PackConcepts* packs = nullptr;  // handlers of what packs bring to a kit
  lang::Tools tools;
  std::vector<lang::Observer*> observers;  // that look at the world while a kit with their concept runs

  std::string first_action;  // called once in a home in which nothing has run yet, if the kit has it

  const lang::ConceptBinding* find(std::string_view name) const;
};

// Handlers of what packs bring to this kit.
std::vector<const lang::ConceptBinding*> handlers_of_packs(const LoadedConcepts& loaded,
                                                           const std::shared_ptr<const lang::CheckedKit>& kit);

// Handlers are made from a .concept: those of another one that happens to have the same name must not run. Concepts
// without handlers are left alone.
Result<void> check_handlers(const LoadedConcepts& loaded, const lang::CheckedKit& kit);

}  // namespace sluice::host
