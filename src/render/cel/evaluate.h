// Evaluates a checked expression.
#pragma once

#include <span>

#include "render/cel/program.h"

namespace sluice::cel {

Value evaluate(const Expression& expression, const Environment& environment, std::span<const Value> variables,
               size_t slots, Arena& arena, Budget budget);

}  // namespace sluice::cel
