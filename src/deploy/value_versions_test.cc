// Equal values have equal versions, others have others, and the key outlives the process.
#include "deploy/value_versions.h"

#include <gtest/gtest.h>

#include "base/testing_volatile_disk.h"

namespace sluice::deploy {
namespace value_versions_test {

TEST(ValueVersions, AreHmacsOfTheValue) {
  VolatileDisk disk;
  SeededRandom random(1);
  ValueVersions versions(disk, random, "/keys/versions.key");
  const std::string one = versions.of("local", "hello/KEY", "hunter2").value();
  EXPECT_EQ(one.size(), 32U);
  EXPECT_EQ(versions.of("local", "hello/KEY", "hunter2").value(), one);
  EXPECT_NE(versions.of("local", "hello/KEY", "hunter3").value(), one);
  EXPECT_NE(versions.of("prod", "hello/KEY", "hunter2").value(), one);
  EXPECT_EQ(ValueVersions(disk, random, "/keys/versions.key").of("local", "hello/KEY", "hunter2").value(), one);
  EXPECT_EQ(disk.stat("/keys/versions.key", FollowLinks::no)->mode, 0600U);
}

}  // namespace value_versions_test
}  // namespace sluice::deploy
