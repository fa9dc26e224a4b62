// The lines of `where` and `require`, as parts of the parser of `.sync` files (lang/syntax/sync_parser.h).
#pragma once

#include <vector>

#include "lang/syntax/ast.h"
#include "lang/syntax/cursor.h"

namespace sluice::lang {

// From the word `where` on. `when` takes the action forms; without it they are refused.
std::vector<Condition> parse_where(Cursor& cursor, std::vector<Pattern>* when);
// `{ … }` after `require`.
void parse_require(Cursor& cursor, std::vector<Condition>& require);
// `Concept.relation: { ?key field: match … }`
Query parse_query(Cursor& cursor);

// Tells what to write for the loop of other languages.
void refuse_for_each(Cursor& cursor);

}  // namespace sluice::lang
