// Values and conditions, the one expression grammar of both languages:
//
//   condition  = both ("or" both)*             both  = unary ("and" unary)*
//   unary      = "not" unary | quantified | comparison
//   quantified = ("forall" | "exists") name "in" value ("where" condition)? ":" condition
//   comparison = value (("=" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not" "in") value)?
//   value      = literal | name ("." field)* | function "(" condition,* ")" | "[" value,* "]" | record
//              | "(" condition ")" | "_" | "$" fixture "." field
//   record     = "{" (key ":" value)* "}" | "[" (key ":" value)+ "]" | "{" variable+ "}" (each under its own name)
//   literal    = string | integer | float | "true" | "false" | "null" | "none"
//
// A brace list without keys, `{ "a", "b" }`, is a list. `;` and `,` both separate.
#pragma once

#include <vector>

#include "lang/syntax/ast.h"
#include "lang/syntax/cursor.h"

namespace sluice::lang {

// How names of values are spelled.
enum class Dialect {
  invariant,  // bare names are variables
  fixture,    // literals and `$fixture.field` only
  sync,       // `?x` are variables, and a string may hold `{{x}}`
  field,      // bare names are fields, and a string may hold `{{x}}`: in a `.concept`'s `provides` and `next`
};

Expr parse_condition(Cursor& cursor, Dialect dialect);
// A condition without `and` and `or` at its top: where these words separate steps.
Expr parse_plain_condition(Cursor& cursor, Dialect dialect);
Expr parse_value(Cursor& cursor, Dialect dialect);

// `name: value` items up to `close`, which is taken.
std::vector<Argument> parse_arguments(Cursor& cursor, Dialect dialect, std::string_view close);

}  // namespace sluice::lang
