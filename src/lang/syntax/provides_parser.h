// The `provides` of a provider's concept, as a part of the parser of `.concept` files (lang/syntax/concept_parser.h).
#pragma once

#include "lang/syntax/ast.h"
#include "lang/syntax/cursor.h"

namespace sluice::lang {

// `provides Concept { … }`
Provides parse_provides(Cursor& cursor);

}  // namespace sluice::lang
