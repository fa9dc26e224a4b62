// The id of this Sluice is made once.
#include "deploy/migrate_means.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::deploy {
namespace migrate_means_test {

TEST(MigrateMeans, KeepsItsId) {
  TestingFolder folder;
  RealDisk disk;
  RealRandom random;
  auto id = MigrateMeans(disk, random, folder.path("id")).sluice();
  ASSERT_TRUE(id) << id.error().message;
  EXPECT_EQ(id->size(), 32U);
  EXPECT_EQ(*MigrateMeans(disk, random, folder.path("id")).sluice(), *id);
  EXPECT_NE(*MigrateMeans(disk, random, folder.path("other")).sluice(), *id);
  EXPECT_FALSE(MigrateMeans(disk, random, folder.path("none/id")).sluice());
}

}  // namespace migrate_means_test
}  // namespace sluice::deploy
