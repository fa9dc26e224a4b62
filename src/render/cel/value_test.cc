// Tests of value in CEL.
#include "render/cel/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::value_test {
namespace {

using testing::HasSubstr;

using CelValues = CelTest;

TEST_F(CelValues, WhatJsonCannotHoldIsSaid) {
  EXPECT_EQ(json_of("1.0 / 0.0"), "+Inf is no number of JSON");
  EXPECT_EQ(json_of("{1: 'a'}"), "a key of an object is a string, not a int");
  EXPECT_THAT(json_of("optional.of(1)"), HasSubstr("orValue"));
  EXPECT_EQ(json_of("[duration('90s'), timestamp('2026-03-01T10:00:00+01:00')]"), R"(["90s","2026-03-01T09:00:00Z"])");
}

TEST_F(CelValues, NumbersAreShownShortly) {
  EXPECT_EQ(json_of("string(1.5) + ' ' + string(1000000.0) + ' ' + string(1e30) + ' ' + string(0.00001)"),
            R"("1.5 1000000 1e+30 1e-05")");
}

TEST_F(CelValues, LargeMapsAreSearchedByKey) {
  std::string text = "{";
  for (int key = 0; key < 100; ++key) text += "'k" + std::to_string(key) + "': " + std::to_string(key) + ", ";
  declare("m", types().dynamic(), "{}");
  EXPECT_EQ(json_of(text + "}['k42']"), "42");
  EXPECT_EQ(json_of("'k100' in " + text + "}"), "false");
  EXPECT_EQ(fault_of("{1: 'a', 1u: 'b'}"), "a key stands in a map twice");
}

TEST_F(CelValues, NumbersAreEqualByValue) {
  EXPECT_TRUE(equal(Value::of(int64_t{1}), Value::of(1.0)));
  EXPECT_TRUE(equal(Value::of(uint64_t{1}), Value::of(int64_t{1})));
  EXPECT_FALSE(equal(Value::of(int64_t{-1}), Value::of(UINT64_MAX)));
  EXPECT_EQ(compare(Value::of(0.0 / 0.0), Value::of(int64_t{1})), std::nullopt);
  EXPECT_EQ(compare(Value::string("a"), Value::of(int64_t{1})), std::nullopt);
}

}  // namespace
}  // namespace sluice::cel::value_test
