// Tests of optionals in CEL.
#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::optionals_test {
namespace {

using CelOptionals = CelTest;

TEST_F(CelOptionals, WhatIsMissingIsNoFault) {
  EXPECT_EQ(json_of("{'a': {'b': 1}}.?a.?c.orValue(7)"), "7");
  EXPECT_EQ(json_of("[?[1][?5], ?optional.of(2)]"), "[2]");
  EXPECT_EQ(json_of("optional.none().or(optional.of(3)).value()"), "3");
  EXPECT_EQ(fault_of("optional.none().value()"), "there is no value in this optional");
  EXPECT_EQ(json_of("optional.of(1).orValue(1 / 0)"), "1");
}

}  // namespace
}  // namespace sluice::cel::optionals_test
