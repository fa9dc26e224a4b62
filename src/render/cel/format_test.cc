// Tests of format in CEL.
#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::format_test {
namespace {

using CelFormat = CelTest;

TEST_F(CelFormat, EachLetterShowsItsKind) {
  EXPECT_EQ(json_of("'%s %d %.2f %x %X %b %%'.format(['a', 7, 1.5, 255, 'az', 5])"), "\"a 7 1.50 ff 617A 101 %\"");
  EXPECT_EQ(json_of("'%s'.format([{'b': [1, null], 'a': duration('1m')}])"), "\"{a: 60s, b: [1, null]}\"");
  EXPECT_EQ(fault_of("'%d'.format(['a'])"), "%d cannot show a value of type string");
  EXPECT_EQ(fault_of("'%s %s'.format(['a'])"), "index 1 out of range");
  EXPECT_EQ(fault_of("'%q'.format(['a'])"), "there is no format %q");
}

}  // namespace
}  // namespace sluice::cel::format_test
