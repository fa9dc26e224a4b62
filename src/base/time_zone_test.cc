// Tests of time zones, with those of this machine.
#include "base/time_zone.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/utc_time.h"

namespace sluice::time_zone_test {
namespace {

int64_t moment(const char* text) { return *parse_utc(text) / 1000; }

TEST(TimeZones, TheClocksChangeTwiceAYear) {
  RealDisk disk;
  const TimeZones zones(disk);
  const auto zurich = *zones.find("Europe/Zurich");
  EXPECT_EQ(zurich->offset_at(moment("2026-03-29T00:59:59Z")), 3600);
  EXPECT_EQ(zurich->offset_at(moment("2026-03-29T01:00:00Z")), 7200);
  EXPECT_EQ(zurich->offset_at(moment("2026-10-25T00:59:59Z")), 7200);
  EXPECT_EQ(zurich->offset_at(moment("2026-10-25T01:00:00Z")), 3600);
}

TEST(TimeZones, TheRuleHoldsBeyondWhatTheFileLists) {
  RealDisk disk;
  const TimeZones zones(disk);
  EXPECT_EQ((*zones.find("Europe/Zurich"))->offset_at(moment("2090-07-01T00:00:00Z")), 7200);
  EXPECT_EQ((*zones.find("Europe/Zurich"))->offset_at(moment("2090-01-01T00:00:00Z")), 3600);
  EXPECT_EQ((*zones.find("Australia/Sydney"))->offset_at(moment("2090-01-01T00:00:00Z")), 11 * 3600);
  EXPECT_EQ((*zones.find("Australia/Sydney"))->offset_at(moment("2090-07-01T00:00:00Z")), 10 * 3600);
  EXPECT_EQ((*zones.find("Asia/Kathmandu"))->offset_at(moment("2090-07-01T00:00:00Z")), 20700);
}

TEST(TimeZones, NamesLeadNowhereElse) {
  RealDisk disk;
  const TimeZones zones(disk);
  for (const char* name : {"../../../etc/passwd", "/etc/passwd", "", "Europe/Nowhere", "Europe"}) {
    EXPECT_FALSE(zones.find(name)) << name;
  }
  EXPECT_EQ(zones.find("Europe/Nowhere").error().message, "there is no time zone 'Europe/Nowhere'");
  EXPECT_EQ(TimeZones(disk, "/nowhere").find("Europe/Zurich").error().code, Code::unavailable);
}

TEST(TimeZones, DamagedFilesAreRefused) {
  RealDisk disk;
  for (const auto* bytes :
       {"", "TZif", "TZif2aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    EXPECT_FALSE(TimeZone::parse(bytes));
  }
}

}  // namespace
}  // namespace sluice::time_zone_test
