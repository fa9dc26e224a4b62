// One record for the first of a minute, and one that counts the others.
#include "engine/denials.h"

#include <gtest/gtest.h>

namespace sluice::engine {
namespace denials_test {

const Denials::Who kWho{"uid:7", "Shop/open"};

std::string text_of(const std::vector<Denials::Told>& told) {
  std::string text;
  for (const Denials::Told& each : told) text += each.who.first + " " + std::to_string(each.count) + ";";
  return text;
}

TEST(Denials, TellsTheFirstOfAMinuteAndCountsTheOthers) {
  Denials denials;
  EXPECT_EQ(text_of(denials.deny(kWho, 0)), "uid:7 1;");
  EXPECT_EQ(text_of(denials.deny(kWho, 1)), "");
  EXPECT_EQ(text_of(denials.deny(kWho, 59'999)), "");
  EXPECT_EQ(text_of(denials.take(59'999, false)), "");
  EXPECT_EQ(text_of(denials.deny({"uid:8", "Shop/open"}, 60'000)), "uid:8 1;");
  EXPECT_EQ(text_of(denials.take(60'001, false)), "uid:7 2;");
  EXPECT_FALSE(denials.empty());
  EXPECT_EQ(Denials::minute_end_ms(60'001), 120'000);
  EXPECT_EQ(text_of(denials.take(60'001, true)), "");
  EXPECT_TRUE(denials.empty());
}

TEST(Denials, TellsOfTheMinuteBeforeWithTheNext) {
  Denials denials;
  denials.deny(kWho, 0);
  denials.deny(kWho, 1);
  EXPECT_EQ(text_of(denials.deny(kWho, 60'000)), "uid:7 1;uid:7 1;");
}

TEST(Denials, TellsLaterWhatCouldNotBeRecorded) {
  Denials denials;
  for (const Denials::Told& each : denials.deny(kWho, 0)) denials.put_back(each, 0);
  EXPECT_EQ(text_of(denials.take(60'000, false)), "uid:7 1;");
}

}  // namespace denials_test
}  // namespace sluice::engine
