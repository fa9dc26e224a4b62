// Tests of time in CEL.
#include "render/cel/time.h"

#include <gtest/gtest.h>

#include "render/cel/testing_cel.h"

namespace sluice::cel::time_test {
namespace {

using CelTime = CelTest;

TEST_F(CelTime, TextIsReadStrictly) {
  EXPECT_EQ(text_of(*parse_instant("2026-03-01T10:00:00.5+01:00")), "2026-03-01T09:00:00.5Z");
  for (const auto* text :
       {"2026-02-29T00:00:00Z", "2026-03-01", "2026-03-01T10:00:00", "2026-03-01T24:00:00Z", "0000-01-01T00:00:00Z"}) {
    EXPECT_FALSE(parse_instant(text)) << text;
  }
  EXPECT_EQ(parse_duration_text("1h30m0.5s"), 5'400'500'000'000);
  EXPECT_EQ(parse_duration_text("-2ms"), -2'000'000);
  for (const auto* text : {"", "1", "s", "1x", "--1s", "1h-1m", "99999999999s"})
    EXPECT_FALSE(parse_duration_text(text)) << text;
}

TEST_F(CelTime, SumsStayWithinTheYears) {
  EXPECT_FALSE(add(*parse_instant("9999-12-31T23:59:59.999999999Z"), 1));
  EXPECT_EQ(text_of(*add(*parse_instant("1969-12-31T23:59:59.9Z"), 200'000'000)), "1970-01-01T00:00:00.1Z");
  EXPECT_FALSE(difference(*parse_instant("9999-12-31T23:59:59Z"), *parse_instant("0001-01-01T00:00:00Z")));
}

}  // namespace
}  // namespace sluice::cel::time_test
