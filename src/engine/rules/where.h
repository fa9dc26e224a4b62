// Solves a `where` or a `require`: conditions left to right, each turning a row of bindings into any number of rows.
// Rows of state come in key order. A query reads by key when its key is known, else by the first indexed field whose
// value is known, else all rows of the relation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/rules/rules.h"
#include "engine/state_reader.h"
#include "lang/check/symbols.h"

namespace sluice::engine {

// At most this many rows, read at once or left over after a condition; more is an error, and nothing is done.
inline constexpr size_t kMaxRows = 10'000;
// How many rows of state it may look at on the way: of those that fit in part there may be many for each row of
// bindings, and the writer waits meanwhile.
inline constexpr size_t kMaxRowsLookedAt = 1'000'000;

struct CompiledQuery {
  std::string relation;
  std::optional<size_t> key_slot;
  std::vector<FieldMatcher> fields;
  std::vector<size_t> indexed;  // of `fields`: those that the store can look up

  // Whether a row fits; see Matcher::fits.
  bool fits(const StateReader::Row& row, Bindings& bindings, std::vector<size_t>& bound) const;
};

struct CompiledCondition {
  lang::Condition::Kind kind = lang::Condition::Kind::query;
  CompiledQuery query;
  std::vector<Expression> exprs;
  size_t slot = 0;                   // bind
  std::vector<FieldMatcher> fields;  // each
};

CompiledQuery compile_query(const lang::Query& source, const lang::QuerySymbol& symbol, const lang::Symbols& symbols,
                            Slots& slots);
std::vector<CompiledCondition> compile_conditions(const std::vector<lang::Condition>& source,
                                                  const std::vector<std::optional<lang::QuerySymbol>>& symbols,
                                                  const lang::Symbols& all, Slots& slots);

// All solutions that extend `start`. `title` begins error messages: "sync `X`".
Result<std::vector<Bindings>> solve(const std::vector<CompiledCondition>& conditions, Bindings start,
                                    const StateReader& state, const Moment& moment, const std::string& title);

}  // namespace sluice::engine
