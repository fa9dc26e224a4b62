// Tests of text in CEL.
#include "render/cel/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::text_test {
namespace {

using CelText = CelTest;

TEST_F(CelText, PlacesAreCountedInCharacters) {
  EXPECT_EQ(json_of("['a€é'.indexOf('é'), 'a€é€'.lastIndexOf('€')]"), "[2,3]");
  EXPECT_EQ(json_of("'a€é'.substring(1, 2)"), "\"€\"");
  EXPECT_EQ(json_of("'a€é'.reverse()"), "\"é€a\"");
  EXPECT_EQ(fault_of("'abc'.charAt(4)"), "index out of range: 4");
  EXPECT_EQ(json_of("'a,b,c'.split(',', 2)"), R"(["a","b,c"])");
}

TEST_F(CelText, PatternsTakeLinearTime) {
  EXPECT_EQ(json_of("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches('^(a+)+$')"), "false");
  EXPECT_THAT(fault_of("'a'.matches('(')"), testing::HasSubstr("the pattern cannot be read"));
}

TEST_F(CelText, ReplacingGrowsWithinBounds) {
  EXPECT_EQ(json_of("'ab'.replace('', '-')"), "\"-a-b-\"");
  EXPECT_EQ(json_of("'aXbXc'.replace('X', '', 1)"), "\"abXc\"");
}

}  // namespace
}  // namespace sluice::cel::text_test
