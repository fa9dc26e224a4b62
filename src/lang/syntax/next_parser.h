// The `next:` of a guard or a variant, as a part of the parsers of both.
#pragma once

#include <vector>

#include "lang/syntax/ast.h"
#include "lang/syntax/cursor.h"
#include "lang/syntax/expression_parser.h"

namespace sluice::lang {

// Every `next:` that stands here.
std::vector<Next> parse_next_steps(Cursor& cursor, Dialect dialect);

}  // namespace sluice::lang
