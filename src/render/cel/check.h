// Finds what each name and call of an expression means, and the type of the whole.
#pragma once

#include "base/result.h"
#include "render/cel/program.h"
#include "render/cel/syntax.h"

namespace sluice::cel {

struct Checked {
  const Type* type = nullptr;
  size_t slots = 0;  // of variables, and of what macros bind
};

Result<Checked> check(Expression& expression, const Environment& environment, TypePool& types, Checking checking);

}  // namespace sluice::cel
