// Values as canonical text; format_test.cc has whole files.
#include "lang/format/print.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice::lang {
namespace print_test {

std::string literal(json::value value) {
  Expr expr;
  expr.value = std::move(value);
  return print_value(expr, Dialect::sync);
}

TEST(Print, NumbersKeepTheirKind) {
  EXPECT_EQ(literal(1), "1");
  EXPECT_EQ(literal(1.0), "1.0");
  EXPECT_EQ(literal(-0.25), "-0.25");
  EXPECT_EQ(literal(1e300), "1e+300");
  EXPECT_EQ(literal(nullptr), "null");
  EXPECT_EQ(literal(false), "false");
}

TEST(Print, ABraceBeforeAHoleIsEscaped) {
  Expr expr;
  expr.op = Expr::Op::text;
  expr.parts = {"a{", "}"};
  Expr hole;
  hole.op = Expr::Op::variable;
  hole.name = "x";
  expr.args = {hole};
  EXPECT_EQ(print_value(expr, Dialect::sync), "\"a\\{{{x}}}\"");
}

TEST(Print, KeysThatAreNoNamesAreQuoted) {
  Expr expr;
  expr.op = Expr::Op::record;
  expr.keys = {"a", "b c"};
  expr.args.resize(2);
  std::string text = print_value(expr, Dialect::fixture);
  std::erase(text, kSoftBreak);
  EXPECT_EQ(text, "{ a: null,\"b c\": null }");
}

}  // namespace print_test
}  // namespace sluice::lang
