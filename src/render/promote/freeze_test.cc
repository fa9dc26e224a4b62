// Dates and weeks in the clocks of zones.
#include "render/promote/freeze.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"

namespace sluice::promote {
namespace freeze_test {

class FreezeTest : public testing::Test {
 protected:
  // The freeze that holds; empty: none.
  std::string at(const Freeze& freeze, int64_t seconds, const std::string& environment = "prod") {
    auto found = frozen_at({freeze}, environment, seconds, zones_);
    return found ? found->value_or("") : to_string(found.error());
  }
  RealDisk disk_;
  TimeZones zones_{disk_};
};

constexpr int64_t kFriday = 1'768'579'200;  // Friday, 2026-01-16T16:00 UTC
constexpr int64_t kHour = 3'600;

TEST_F(FreezeTest, ADateHoldsInTheClockOfItsZone) {
  const Freeze freeze{
      .name = "holidays", .timeZone = "Europe/Zurich", .from = "2026-01-16T17:00", .until = "2026-01-16T18:00"};
  EXPECT_EQ(at(freeze, kFriday - 1), "");
  EXPECT_EQ(at(freeze, kFriday), "holidays, until 2026-01-16T18:00 (Europe/Zurich)");
  EXPECT_EQ(at(freeze, kFriday + kHour), "");
}

TEST_F(FreezeTest, AWeekGoesRound) {
  const Freeze freeze{.name = "weekend", .from = "Fri 16:00", .until = "Mon 08:00"};
  EXPECT_EQ(at(freeze, kFriday - 1), "");
  EXPECT_EQ(at(freeze, kFriday), "weekend, until Mon 08:00 (UTC)");
  EXPECT_EQ(at(freeze, kFriday + 60 * kHour), "weekend, until Mon 08:00 (UTC)");
  EXPECT_EQ(at(freeze, kFriday + 64 * kHour), "");
}

TEST_F(FreezeTest, ItHoldsWhereItSays) {
  const Freeze freeze{.name = "x", .environments = {"prod"}, .from = "2000-01-01T00:00", .until = "2999-01-01T00:00"};
  EXPECT_NE(at(freeze, kFriday), "");
  EXPECT_EQ(at(freeze, kFriday, "dev"), "");
}

TEST_F(FreezeTest, AnUnknownZoneIsAnError) {
  EXPECT_NE(at({.name = "x", .timeZone = "Mars/Base", .from = "Mon 00:00", .until = "Sun 00:00"}, kFriday).find("Mars"),
            std::string::npos);
}

TEST_F(FreezeTest, TimesAreChecked) {
  const auto said = [](const std::string& from, const std::string& until) {
    auto sound = check_freeze({.name = "x", .from = from, .until = until});
    return sound ? std::string() : sound.error().path + ": " + sound.error().message;
  };
  EXPECT_EQ(said("Fri 16:00", "Mon 08:00"), "");
  EXPECT_EQ(said("2026-01-01T00:00", "2026-02-01T00:00"), "");
  EXPECT_EQ(said("2026-01-01T00:00", "2025-02-01T00:00"), "/until: it ends before it begins");
  EXPECT_EQ(said("Friday", "Mon 08:00"),
            "/from: 'Friday' is no time: expected 2026-12-20T00:00, or Fri 16:00 for each week");
  EXPECT_EQ(said("2026-01-01T00:00", "Mon 08:00").substr(0, 6), "/until");
  EXPECT_EQ(said("Fri 24:00", "Mon 08:00").substr(0, 5), "/from");
  EXPECT_EQ(said("2026-13-01T00:00", "2026-01-01T00:00").substr(0, 5), "/from");
}

}  // namespace freeze_test
}  // namespace sluice::promote
