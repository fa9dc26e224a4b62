// Equality is about meaning: places and comments do not count.
#include "lang/syntax/ast.h"

#include <gtest/gtest.h>

namespace sluice::lang {
namespace ast_test {

TEST(Ast, MarksDoNotTakePartInEquality) {
  Name here{{{1, 1}}, "x"};
  Name there{{{9, 9}}, "x"};
  EXPECT_EQ(here, there);
  EXPECT_NE(here, (Name{{{1, 1}}, "y"}));
}

TEST(Ast, PrimitivesAreAClosedList) {
  EXPECT_TRUE(is_primitive("DateTime"));
  EXPECT_TRUE(is_primitive("Sealed"));
  EXPECT_FALSE(is_primitive("Datetime"));
}

}  // namespace ast_test
}  // namespace sluice::lang
