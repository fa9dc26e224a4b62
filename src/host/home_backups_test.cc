// A backup of the store that is open, proven, and refused where nothing is open.
#include "host/home_backups.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "crypto/recipient.h"
#include "store/memory_store.h"

namespace sluice::host {
namespace home_backups_test {

class HomeBackupsTest : public testing::Test {
 protected:
  HomeBackupsTest() {
    for (const char* each : {"home", "home/keys", "home/store", "backups"}) {
      EXPECT_TRUE(disk.make_folder(folder.path(each), 0700));
    }
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  RealRandom random;
  store::ArchivingStore store{std::make_unique<store::MemoryStore>(), clock};
  crypto::PrivateKey signer = crypto::PrivateKey::generate();
  crypto::RecipientKey pair = crypto::RecipientKey::generate();
  HomeBackups backups{disk, clock, random};
};

TEST_F(HomeBackupsTest, WhatIsOpenIsBackedUpAndProven) {
  auto attached = backups.attach({.store = &store, .home = folder.path("home"), .signer = &signer});
  auto made = backups.create(folder.path("backups"), "one", pair.recipient());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->signer, signer.public_key().key_id());
  EXPECT_TRUE(backups.is_there(folder.path("backups/one")));
  auto proven = backups.verify(folder.path("backups/one"));
  ASSERT_TRUE(proven) << proven.error().message;
  EXPECT_EQ(proven->position, made->position);
  ASSERT_TRUE(backups.remove(folder.path("backups/one")));
  EXPECT_FALSE(backups.is_there(folder.path("backups/one")));
}

TEST_F(HomeBackupsTest, WithoutAnOpenStoreThereIsNothingToBackUp) {
  EXPECT_FALSE(backups.create(folder.path("backups"), "one", pair.recipient()));
  EXPECT_FALSE(backups.is_there(folder.path("backups/one")));
}

}  // namespace home_backups_test
}  // namespace sluice::host
