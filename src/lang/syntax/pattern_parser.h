// The patterns of a rule, as parts of the parser of `.sync` files (lang/syntax/sync_parser.h).
#pragma once

#include <string_view>
#include <vector>

#include "lang/syntax/ast.h"
#include "lang/syntax/cursor.h"

namespace sluice::lang {

// `{ pattern … }` after `when`.
void parse_when(Cursor& cursor, std::vector<Pattern>& when);
// `Concept/action: [ … ] => outcome as ?r`, after its `caused by` or `latest`.
void parse_pattern(Cursor& cursor, Pattern& pattern);

// `Concept/action: [ … ]`; concept and action may be variables, whose text keeps its sign, and `{a, b}` names several
// actions.
void parse_pattern_input(Cursor& cursor, Pattern& pattern);

// `Concept/action:` of what is started.
void parse_target(Cursor& cursor, Name& concept_name, Name& action);
Name parse_concept_name(Cursor& cursor);

// `[ field: match … ]`
std::vector<FieldPattern> parse_bracketed_patterns(Cursor& cursor, std::string_view after);
// `field: match` items up to `close`, which is taken. In a query a field may be a path and have a second name.
std::vector<FieldPattern> parse_field_patterns(Cursor& cursor, std::string_view close, bool query);

}  // namespace sluice::lang
