// Tests of operators in CEL.
#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::operators_test {
namespace {

using CelOperators = CelTest;

TEST_F(CelOperators, ArithmeticIsExactOrFails) {
  EXPECT_EQ(json_of("7 / 2 + 7 % 2"), "4");
  EXPECT_EQ(fault_of("9223372036854775807 + 1"), "the result is beyond 64 bits");
  EXPECT_EQ(fault_of("0u - 1u"), "the result is beyond 64 bits");
  EXPECT_EQ(fault_of("-9223372036854775808 / -1"), "the result is beyond 64 bits");
  EXPECT_EQ(fault_of("1 / 0"), "division by zero");
  EXPECT_EQ(json_of("[1] + [2]"), "[1,2]");
}

TEST_F(CelOperators, SizesCountCharacters) {
  EXPECT_EQ(json_of("[size('é€'), size(b'é'), [1, 2].size(), {'a': 1}.size()]"), "[2,2,2,1]");
}

}  // namespace
}  // namespace sluice::cel::operators_test
