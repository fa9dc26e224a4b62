// Times from text.
#include "base/utc_time.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace sluice {
namespace utc_time_test {

TEST(UtcTime, ReadsTheTimesThatTheClockPrints) {
  for (int64_t ms : {int64_t{0}, int64_t{-1}, int64_t{1'709'210'096'007}}) EXPECT_EQ(*parse_utc(utc_text(ms)), ms);
  EXPECT_EQ(*parse_utc("2024-02-29T12:34:56Z"), 1'709'210'096'000);
  for (const char* text : {"", "2023-02-29T00:00:00Z", "2024-02-29T24:00:00Z", "2024-02-29T12:34:56", "2024-02-29"}) {
    EXPECT_FALSE(parse_utc(text)) << text;
  }
  EXPECT_EQ(parse_utc("soon").error().message,
            R"(expected a UTC time such as "2030-01-31T12:00:00.000Z", found "soon")");
}

}  // namespace utc_time_test
}  // namespace sluice
