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
  RealClock clock;
  process::RealRunner runner(clock);
  auto means = [&](const std::string& id) {
    return MigrateMeans(disk, random, runner, {}, {.id = folder.path(id), .backups = folder.path("backups")});
  };
  auto id = means("id").sluice();
  ASSERT_TRUE(id) << id.error().message;
  EXPECT_EQ(id->size(), 32U);
  EXPECT_EQ(*means("id").sluice(), *id);
  EXPECT_NE(*means("other").sluice(), *id);
  EXPECT_FALSE(means("none/id").sluice());
}

}  // namespace migrate_means_test
}  // namespace sluice::deploy
