// Tests of math in CEL.
#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::math_test {
namespace {

using CelMath = CelTest;

TEST_F(CelMath, TheGreatestKeepsItsType) {
  EXPECT_EQ(json_of("[math.greatest(1, 2.5, 2u), math.least([3, 1, 2]), math.abs(-4)]"), "[2.5E0,1,4]");
  EXPECT_EQ(fault_of("math.least([])"), "there is no greatest or least of nothing");
  EXPECT_EQ(json_of("[math.bitShiftLeft(1, 3), math.bitShiftRight(-1, 60), math.bitAnd(6, 3)]"), "[8,15,2]");
  EXPECT_EQ(fault_of("math.bitShiftLeft(1, -1)"), "a shift by a negative offset");
}

}  // namespace
}  // namespace sluice::cel::math_test
