// What `kit show` prints: a kit, one of its concepts, syncs or guards, for people and as JSON. cli/kit_dot.h draws it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/terminal.h"
#include "cli/outputs.h"
#include "lang/check/check.h"

namespace sluice::cli {

std::string show_kit(const lang::CheckedKit& kit, const Terminal& terminal);
outputs::Kit shown_kit(const lang::CheckedKit& kit);

// The number in Kit::syncs of the sync with this name or alias; of several, such as an overridden one and its
// replacement, the active one.
std::optional<size_t> find_sync(const lang::Kit& kit, std::string_view name);

// A concept or a sync by its number in the symbols or in Kit::syncs.
std::string show_concept(const lang::CheckedKit& kit, size_t concept_, const Terminal& terminal);
outputs::Concept shown_concept(const lang::CheckedKit& kit, size_t concept_);
std::string show_sync(const lang::CheckedKit& kit, size_t sync, const Terminal& terminal);
outputs::Sync shown_sync(const lang::CheckedKit& kit, size_t sync);

// By its number in Kit::guards.
std::optional<size_t> find_guard(const lang::Kit& kit, std::string_view name);
std::string show_guard(const lang::CheckedKit& kit, size_t guard, const Terminal& terminal);
outputs::Guard shown_guard(const lang::CheckedKit& kit, size_t guard);

// What a pattern waits for, as rules write it: "ok", "requested", "engine.fault".
std::string outcome_text(const lang::Pattern& pattern);

}  // namespace sluice::cli
