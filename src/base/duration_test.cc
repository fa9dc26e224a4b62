// Durations go both ways; what is refused says why.
#include "base/duration.h"

#include <gtest/gtest.h>

namespace sluice {
namespace duration_test {

using std::chrono::milliseconds;

TEST(Duration, ReadsEveryUnit) {
  EXPECT_EQ(*parse_duration("250ms"), milliseconds(250));
  EXPECT_EQ(*parse_duration("30s"), milliseconds(30'000));
  EXPECT_EQ(*parse_duration("5m"), milliseconds(300'000));
  EXPECT_EQ(*parse_duration("1h30m"), milliseconds(5'400'000));
  EXPECT_EQ(*parse_duration("7d"), milliseconds(604'800'000));
  EXPECT_EQ(*parse_duration("90m"), milliseconds(5'400'000));
  EXPECT_EQ(*parse_duration("1d2h3m4s5ms"), milliseconds(93'784'005));
  EXPECT_EQ(*parse_duration("0s"), milliseconds(0));
  EXPECT_EQ(*parse_duration("36500d"), kLongestDuration);
}

TEST(Duration, PrintsTheShortestForm) {
  EXPECT_EQ(print_duration(milliseconds(0)), "0s");
  EXPECT_EQ(print_duration(milliseconds(1)), "1ms");
  EXPECT_EQ(print_duration(milliseconds(90'000)), "1m30s");
  EXPECT_EQ(print_duration(milliseconds(604'800'000)), "7d");
  EXPECT_EQ(print_duration(milliseconds(93'784'005)), "1d2h3m4s5ms");
}

TEST(Duration, ReadsBackWhatItPrints) {
  for (int64_t ms = 1; ms < kLongestDuration.count(); ms = ms * 3 + 7) {
    EXPECT_EQ(*parse_duration(print_duration(milliseconds(ms))), milliseconds(ms));
  }
}

TEST(Duration, SaysWhatIsWrong) {
  auto why = [](std::string_view text) {
    auto bad = parse_duration(text);
    if (bad) return std::string("accepted");
    EXPECT_EQ(bad.error().code, Code::invalid);
    EXPECT_EQ(bad.error().next, "write it like 250ms, 30s, 5m, 1h30m or 7d");
    return bad.error().message;
  };
  EXPECT_EQ(why(""), "'' is not a duration: it is empty");
  EXPECT_EQ(why("30"), "'30' is not a duration: a unit is missing after 30");
  EXPECT_EQ(why("-5s"), "'-5s' is not a duration: expected a digit at '-5s'");
  EXPECT_EQ(why("1.5h"), "'1.5h' is not a duration: unknown unit '.'; the units are d, h, m, s and ms");
  EXPECT_EQ(why("5 m"), "'5 m' is not a duration: unknown unit ' m'; the units are d, h, m, s and ms");
  EXPECT_EQ(why("5min"), "'5min' is not a duration: unknown unit 'min'; the units are d, h, m, s and ms");
  EXPECT_EQ(why("5S"), "'5S' is not a duration: unknown unit 'S'; the units are d, h, m, s and ms");
  EXPECT_EQ(why("5m1h"), "'5m1h' is not a duration: units go from large to small, each once");
  EXPECT_EQ(why("5m5m"), "'5m5m' is not a duration: units go from large to small, each once");
  EXPECT_EQ(why("1h90m"), "'1h90m' is not a duration: 90m is 1h or more");
  EXPECT_EQ(why("36501d"), "'36501d' is not a duration: it is longer than 36500d");
  EXPECT_EQ(why("36500d1ms"), "'36500d1ms' is not a duration: it is longer than 36500d");
  EXPECT_EQ(why("99999999999999999999s"), "'99999999999999999999s' is not a duration: it is longer than 36500d");
  EXPECT_EQ(why(std::string_view("5\0s", 3)),
            "'5\\x00s' is not a duration: unknown unit '\\x00s'; the units are d, h, m, s and ms");
  EXPECT_EQ(why(std::string(100'000, '1')), "'" + std::string(40, '1') + "' is not a duration: it is too long");
}

}  // namespace duration_test
}  // namespace sluice
