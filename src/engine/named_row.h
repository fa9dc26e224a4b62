// The row that a call is about: that of the action's first argument of one of its concept's own types. What a caller
// expects its generation to be, the engine compares inside the step.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "lang/check/symbols.h"

namespace sluice::engine {

namespace json = boost::json;

struct NamedRow {
  std::string relation, key;
};
std::optional<NamedRow> named_row(const lang::Symbols& symbols, lang::ActionRef action, const json::object& input);

// Every argument of a concept's own types, in lists and records too, can be the key of a row: it is not empty and has
// no NUL. What comes from outside is checked with this, so that no handler meets a key that the store refuses.
Result<void> check_keys(const lang::Symbols& symbols, lang::ActionRef action, const json::object& input);

}  // namespace sluice::engine
