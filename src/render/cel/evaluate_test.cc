// Tests of evaluate in CEL.
#include "render/cel/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::evaluate_test {
namespace {

using testing::HasSubstr;

using CelEvaluate = CelTest;

TEST_F(CelEvaluate, StepsAreBounded) {
  const std::string nested =
      "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, a + b + c > 0)))";
  EXPECT_EQ(fault_of(nested), "no fault");
  EXPECT_EQ(fault_of(nested, {.steps = 500}), "the expression takes too many steps");
}

TEST_F(CelEvaluate, MemoryIsBounded) {
  std::string doubled = "'aaaaaaaaaaaaaaaa'";
  for (int count = 0; count < 30; ++count) doubled = "cel.bind(t, " + doubled + ", t + t)";
  EXPECT_THAT(fault_of(doubled), HasSubstr("too much memory"));
  EXPECT_THAT(fault_of("lists.range(100000000)"), HasSubstr("too"));
  EXPECT_THAT(fault_of("lists.range(5000).map(x, lists.range(5000)).size()"), HasSubstr("too"));
}

TEST_F(CelEvaluate, OmittedEntriesAndElementsAreLeftOut) {
  EXPECT_EQ(json_of("{'a': 1, 'b': false ? dyn(2) : oc_omit()}"), R"({"a":1})");
  EXPECT_EQ(json_of("[1, oc_omit(), 3]"), "[1,3]");
  EXPECT_EQ(json_of("{'list': [1, 2].map(x, x == 1 ? oc_omit() : dyn(x))}"), R"({"list":[2]})");
}

TEST_F(CelEvaluate, VariablesWithoutAValueFailWhereTheyAreUsed) {
  environment_.declare("late", types().dynamic());
  EXPECT_EQ(fault_of("late + 1"), "there is no value for 'late'");
  EXPECT_EQ(json_of("true || late"), "true");
}

}  // namespace
}  // namespace sluice::cel::evaluate_test
