// Tests of conversions in CEL.
#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::conversions_test {
namespace {

using CelConversions = CelTest;

TEST_F(CelConversions, NumbersOutOfRangeFail) {
  EXPECT_EQ(json_of("[int('-7'), int(2.9), int(timestamp('1970-01-01T00:00:09Z'))]"), "[-7,2,9]");
  EXPECT_EQ(fault_of("int(1e19)"), "this is beyond the range of int");
  EXPECT_EQ(fault_of("uint(-1)"), "this is beyond the range of uint");
  EXPECT_EQ(fault_of("int('7x')"), "'7x' is no int");
  EXPECT_EQ(fault_of("bool('yes')"), "'yes' is no bool");
  EXPECT_EQ(fault_of("string(b'\\xff')"), "these bytes are no text in UTF-8");
}

}  // namespace
}  // namespace sluice::cel::conversions_test
