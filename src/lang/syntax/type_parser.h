// Types of state components, parameters and variant fields:
//
//   type = atom ("->" type)?
//   atom = name | ("set" | "list" | "option") atom | "{" field,+ "}" | "{" name ("|" name)* "}" | string ("|" string)*
//   field = name ":" type
#pragma once

#include <vector>

#include "lang/syntax/ast.h"
#include "lang/syntax/cursor.h"

namespace sluice::lang {

Type parse_type(Cursor& cursor);

// `name: type` items up to `close`, which is taken.
std::vector<FieldDecl> parse_fields(Cursor& cursor, std::string_view close);

}  // namespace sluice::lang
