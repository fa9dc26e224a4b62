// A backup's key is made once, and found again.
#include "deploy/providers/secret/store/backup_keys.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::deploy::secret_store {
namespace backup_keys_test {

TEST(BackupKeys, AreMadeOnceAndFoundAgain) {
  TestingFolder folder;
  RealDisk disk;
  RealRandom random;
  RealClock clock;
  process::RealRunner runner(clock);
  SealedStore store(disk, random, runner, {.folder = folder.path("secrets"), .keys = folder.path("keys")});
  const MigrateMeans::Keys keys = backup_keys(store, random);
  EXPECT_EQ(keys.find("local", "one").error().code, Code::not_found);
  auto made = keys.make({.environment = "local", .backup = "one", .made_by = "f1/1"});
  ASSERT_TRUE(made) << made.error().message;
  auto again = keys.make({.environment = "local", .backup = "one", .made_by = "f1/1"});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->key().reveal(), made->key().reveal());
  EXPECT_EQ(keys.find("local", "one")->key().reveal(), made->key().reveal());
  auto other = keys.make({.environment = "local", .backup = "two", .made_by = "f1/2"});
  ASSERT_TRUE(other);
  EXPECT_NE(other->key().reveal(), made->key().reveal());
}

}  // namespace backup_keys_test
}  // namespace sluice::deploy::secret_store
