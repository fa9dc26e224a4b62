// Types, values and patterns as canonical text, in pieces that the layout may break: kSoftBreak stands where a line
// may end, kStrongBreak where it ends first. Both are control characters, which no source text can hold.
#pragma once

#include <string>
#include <vector>

#include "lang/syntax/ast.h"
#include "lang/syntax/expression_parser.h"

namespace sluice::lang {

constexpr char kSoftBreak = '\x01';    // a blank, or a line end
constexpr char kStrongBreak = '\x02';  // the same, taken before any soft one

std::string print(const Type& type);
std::string print(const std::vector<FieldDecl>& fields);  // a: T, b: U

std::string print_value(const Expr& expr, Dialect dialect);
std::string print_condition(const Expr& expr, Dialect dialect);
// In the place of a step, where `and` would begin the next one.
std::string print_step_condition(const Expr& expr);

// `open name: value … close`, with blanks inside unless empty.
std::string print(const std::vector<Argument>& arguments, Dialect dialect, std::string_view open,
                  std::string_view separator, std::string_view close);

std::string print(const Pattern& pattern, bool with_outcome = true);
std::string print(const Query& query);
std::string print(const Condition& condition);
std::string print(const Effect& effect);
std::string print(const Step& step);
std::string print(const Fixture& fixture);
std::string print(const Next& next, Dialect dialect);
std::string print(const ProvidedVariant& mapping);

}  // namespace sluice::lang
