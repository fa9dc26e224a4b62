// Patterns of a `when`, compiled. A group is a plain pattern with the `caused by` patterns that speak of it: as those
// find at most one record, a record fits a group in at most one way, and joins are between groups alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/journal/record.h"
#include "engine/rules/rules.h"
#include "lang/check/check.h"

namespace sluice::engine {

// Which records a pattern speaks of, whatever their fields: the outcome, and the concept and action where it names
// them. Equal classes of `caused by` patterns share a number.
struct RecordClass {
  lang::Pattern::Outcome outcome = lang::Pattern::Outcome::variant;
  std::optional<size_t> concept_;
  std::vector<size_t> actions;                // of a named concept, sorted; empty: any
  std::vector<std::vector<size_t>> variants;  // of each of `actions`, sorted
  std::vector<std::string> action_names;      // of `?c/act`; empty: any
  std::vector<std::string> variant_names;     // without `actions`, with Outcome::variant
  std::vector<std::string> having;            // without `actions`, with Outcome::any: fields that it must declare
  std::vector<lang::EngineOutcome> engine;

  bool operator==(const RecordClass&) const = default;

  bool names(lang::ActionRef ref, const lang::Symbols& symbols) const;
  // Of a record whose action it names.
  bool has_outcome(const Record& record, const lang::Symbols& symbols) const;
  bool has(const Record& record, const lang::Symbols& symbols) const {
    return names(record.action, symbols) && has_outcome(record, symbols);
  }
};

struct CompiledPattern {
  lang::Pattern::Link link = lang::Pattern::Link::plain;
  RecordClass record_class;
  std::optional<size_t> concept_slot, action_slot, as_slot;
  std::vector<FieldMatcher> input, output;
  size_t cause = 0;            // caused by: its number
  std::vector<size_t> not_of;  // plain, any concept: concepts that the sync itself invokes
  std::vector<size_t> slots;   // that it binds, each once, sorted
  std::string text;            // canonical form, on one line

  // Whether it may under any: its class and literals do.
  bool may_fit(const Record& record, const lang::Symbols& symbols) const;
  // Whether the record fits under these bindings; binds what is unbound. Bound slots are noted in `bound`, also when
  // it does not fit.
  bool fits(const Record& record, const lang::Symbols& symbols, Bindings& bindings, std::vector<size_t>& bound) const;
};

CompiledPattern compile_pattern(const lang::Pattern& source, const lang::PatternSymbol& symbol, Slots& slots);

// Positions in a `when`.
struct Group {
  size_t plain = 0;
  std::vector<size_t> causes;
  std::vector<size_t> slots;  // that it binds, each once, sorted
};

struct When {
  std::vector<CompiledPattern> patterns;
  std::vector<Group> groups;
  std::vector<size_t> latest;  // positions

  // Whether the record fits the group. Puts what is found in `records`, by position.
  bool fits(const Group& group, const RecordRef& record, const lang::Symbols& symbols, Bindings& bindings,
            std::vector<size_t>& bound, std::vector<RecordRef>& records) const;
};

// Groups the patterns. Numbers are those of `classes`, to which new ones are added.
When compile_when(const std::vector<lang::Pattern>& source, const std::vector<lang::PatternSymbol>& symbols,
                  Slots& slots, std::vector<RecordClass>& classes);

}  // namespace sluice::engine
