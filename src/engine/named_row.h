// The row that a call is about: that of the action's first argument of one of its concept's own types. What a caller
// expects its generation to be, the engine compares inside the step.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>

#include "lang/check/symbols.h"

namespace sluice::engine {

namespace json = boost::json;

struct NamedRow {
  std::string relation, key;
};
std::optional<NamedRow> named_row(const lang::Symbols& symbols, lang::ActionRef action, const json::object& input);

}  // namespace sluice::engine
