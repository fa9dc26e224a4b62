// Tests of collections in CEL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::collections_test {
namespace {

using testing::HasSubstr;

using CelCollections = CelTest;

TEST_F(CelCollections, ListsAreSortedByWhatIsAsked) {
  EXPECT_EQ(json_of("['bb', 'a', 'ccc'].sortBy(x, -size(x))"), R"(["ccc","bb","a"])");
  EXPECT_EQ(json_of("[3, 1, 2].sort()"), "[1,2,3]");
  EXPECT_THAT(fault_of("[dyn(1), dyn('a')].sort()"), HasSubstr("order"));
}

}  // namespace
}  // namespace sluice::cel::collections_test
