// Tests of time functions in CEL.
#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/time_zone.h"
#include "render/cel/testing_cel.h"

namespace sluice::cel::time_functions_test {
namespace {

using CelTimeFunctions = CelTest;

TEST_F(CelTimeFunctions, PartsInAZone) {
  RealDisk disk;
  const TimeZones zones(disk);
  Environment environment(&zones);
  auto program = compile("timestamp('2026-07-01T23:30:00Z').getHours('Europe/Zurich')", environment);
  EXPECT_EQ(program->run({}, arena_).integer, 1);
  EXPECT_EQ(json_of("timestamp('2026-07-01T23:30:00Z').getDayOfMonth('+01:00')"), "1");
  EXPECT_EQ(fault_of("timestamp('2026-07-01T23:30:00Z').getHours('Europe/Zurich')"),
            "there are no time zones here but UTC and offsets");
  EXPECT_EQ(json_of("duration('90m').getHours()"), "1");
}

}  // namespace
}  // namespace sluice::cel::time_functions_test
