// How values and conditions group, and what each dialect refuses.
#include "lang/syntax/expression_parser.h"

#include <gtest/gtest.h>

#include "lang/format/print.h"

namespace sluice::lang {
namespace expression_parser_test {

// The condition with all its grouping shown, or the first fault.
std::string grouped(const Expr& expr, Dialect dialect) {
  if (expr.op == Expr::Op::all || expr.op == Expr::Op::any || expr.op == Expr::Op::negation) {
    std::string text = expr.op == Expr::Op::all ? "(and" : expr.op == Expr::Op::any ? "(or" : "(not";
    for (const auto& arg : expr.args) text += " " + grouped(arg, dialect);
    return text + ")";
  }
  return print_condition(expr, dialect);
}

std::string read(std::string_view text, Dialect dialect = Dialect::invariant) {
  Diagnostics found;
  Cursor cursor(text, "x", found);
  Expr expr = parse_condition(cursor, dialect);
  if (!found.failed() && !cursor.ended()) cursor.fail_here("the end");
  if (!found.failed()) return grouped(expr, dialect);
  const Diagnostic& first = found.all()[0];
  return std::to_string(first.mark.column) + " " + first.text + (first.hint.empty() ? "" : " | " + first.hint);
}

TEST(ExpressionParser, AndBindsCloserThanOrAndNotClosest) {
  EXPECT_EQ(read("a = 1 or not b and c"), "(or a = 1 (and (not b) c))");
  EXPECT_EQ(read("(a or b) and c"), "(and (or a b) c)");
  EXPECT_EQ(read("not a = 1"), "(not a = 1)");
  EXPECT_EQ(read("a not in [1] and not b in c"), "(and a not in [1] (not b in c))");
}

TEST(ExpressionParser, ComparisonsDoNotChain) {
  EXPECT_EQ(read("a = b = c"), "7 expected the end, found `=` | remove it");
}

TEST(ExpressionParser, EachDialectHasItsNames) {
  EXPECT_EQ(read("?a = 1"), "1 `?a` stands for a variable of a sync | write `a`");
  EXPECT_EQ(read("a = 1", Dialect::sync), "1 `a` is not a value | write `?a` for a variable or \"a\" for text");
  EXPECT_EQ(read("a", Dialect::fixture), "1 `a` is not a value | write \"a\" for text");
  EXPECT_EQ(read("a = then"), "5 expected a value, found `then` | write a value here");
  EXPECT_EQ(read("\"{{a b}}\" = 1", Dialect::sync),
            "1 a malformed {{…}} in a string | write {{name}} or {{name.field}}; two plain braces are \\{{");
}

TEST(ExpressionParser, RefusesWhatIsOpenAndWhatIsTooDeep) {
  EXPECT_EQ(read("[1, 2"), "6 expected `]` after a list, found the end of the file | write `]`");
  EXPECT_EQ(read("{ a: 1"), "7 expected `}` after a record, found the end of the file | write `}`");
  EXPECT_EQ(read("(a"), "3 expected `)` after the condition, found the end of the file | write `)`");
  EXPECT_EQ(read("f(a"), "4 expected `)` after the arguments of f, found the end of the file | write `)`");
  EXPECT_EQ(read("a ="), "4 expected a value, found the end of the file | write a value");
  EXPECT_EQ(read("forall x xs: x"), "10 expected `in` after the variable, found `xs` | write `in`");
  std::string deep(10'000, '[');
  EXPECT_EQ(read(deep), "99 nested more than 100 deep | take it apart");
  std::string nots;
  for (int i = 0; i < 10'000; ++i) nots += "not ";
  EXPECT_NE(read(nots).find("nested more than 100 deep"), std::string::npos);
  std::string path = "a";
  for (int i = 0; i < 10'000; ++i) path += ".b";
  EXPECT_NE(read(path).find("nested more than 100 deep"), std::string::npos);
}

}  // namespace expression_parser_test
}  // namespace sluice::lang
