// Tests of syntax in CEL.
#include "render/cel/syntax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::syntax_test {
namespace {

using testing::HasSubstr;

using CelSyntax = CelTest;

TEST_F(CelSyntax, FaultsOfSyntaxHaveAPlace) {
  EXPECT_EQ(refusal_of("1 +"), "1:4: the expression ends too early");
  EXPECT_EQ(refusal_of("a\n  ~"), "2:3: '~' has no meaning here");
  EXPECT_EQ(refusal_of("'abc"), "1:1: this string has no end");
  EXPECT_EQ(refusal_of("missing"), "1:1: there is no 'missing' here");
  EXPECT_EQ(refusal_of("'\xc3\xa9' + x"), "1:7: there is no 'x' here");
  EXPECT_EQ(refusal_of("99999999999999999999"), "1:1: '99999999999999999999' is beyond 64 bits");
  EXPECT_THAT(refusal_of("A{b: 1}"), HasSubstr("there are no messages here"));
}

TEST_F(CelSyntax, DepthIsBounded) {
  EXPECT_THAT(refusal_of(std::string(500, '(') + "1" + std::string(500, ')')),
              HasSubstr("nested deeper than 200 levels"));
  EXPECT_THAT(refusal_of(std::string(500, '!') + "true"), HasSubstr("nested deeper than 200 levels"));
  std::string sum = "1";
  for (int count = 0; count < 500; ++count) sum += " + 1";
  EXPECT_THAT(refusal_of(sum), HasSubstr("more than 200 parts"));
  EXPECT_THAT(refusal_of(std::string(70'000, ' ') + "1"), HasSubstr("at most 64 KiB"));
}

}  // namespace
}  // namespace sluice::cel::syntax_test
