// Checks a kit completely: every concept, action, variant, field, type and variable, and what follows from what.
// A CheckedKit can only be made here, and only from a kit without errors: whoever holds one may run it unseen.
//
//   Checked result = check(load_kit(folder, read));
//   if (!result.kit) print(result.diagnostics);
//
// Costs about one look-up a name. What follows from what is judged on graphs with as many edges as the rules have
// lines: cycles.cc walks them once, check_cause.cc once for each 64 distinct `caused by`, check_answers.cc, for each
// answered action, over what runs beneath it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lang/check/symbols.h"
#include "lang/syntax/diagnostic.h"
#include "lang/syntax/kit.h"

namespace sluice::lang {

struct CheckOptions {
  bool strict = false;  // misaligned parameters are errors
};

// A cycle of syncs: each starts, or answers, the action that the next one matches.
struct Cycle {
  struct Turn {
    size_t sync;  // in Kit::syncs
    ActionRef action;
  };
  std::vector<Turn> turns;
  bool outside = false;  // passes through an effect or a timer, so that it is no endless cascade
  bool loop = false;     // a sync on it says [loop]
};

// "A → Concept/action → B → Concept/action → A"
std::string to_string(const Cycle& cycle, const Kit& kit, const Symbols& symbols);

class CheckedKit {
 public:
  const Kit& kit() const { return *kit_; }
  const Symbols& symbols() const { return symbols_; }
  const std::vector<SyncSymbol>& syncs() const { return syncs_; }  // the active ones
  const std::vector<GuardSymbol>& guards() const { return guards_; }
  const std::vector<Cycle>& cycles() const { return cycles_; }

 private:
  friend struct Checker;
  CheckedKit() = default;

  std::unique_ptr<const Kit> kit_;  // symbols point into it
  Symbols symbols_;
  std::vector<SyncSymbol> syncs_;
  std::vector<GuardSymbol> guards_;
  std::vector<Cycle> cycles_;
};

struct Checked {
  std::optional<CheckedKit> kit;  // only without errors
  std::vector<Diagnostic>
      diagnostics;                  // the loader's too; by file and place; of each file so many as Diagnostics keeps
  size_t errors = 0, warnings = 0;  // all that there are
  std::string rest;                 // how many are not among the diagnostics, in words
  std::map<std::string, std::string> sources;
  size_t concepts = 0, syncs = 0, guards = 0;
};

Checked check(Kit kit, const CheckOptions& options = {});

// The same for one concept by itself, without a kit: whether something can be made of it.
std::vector<Diagnostic> check_concept(Concept tree, std::string_view source);

// The names and types of what is whole of a concept with errors; what speaks of the rest cannot be judged.
std::vector<Diagnostic> check_parts(Concept parts, std::string_view source);

// The engine's own concepts, Timer and Flow.
const std::vector<Concept>& engine_concepts();

}  // namespace sluice::lang
