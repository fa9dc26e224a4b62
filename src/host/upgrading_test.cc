// A store of an older format is brought up behind a backup, or left as it is; both stores with real homes are in
// tests/upgrade.
#include "host/upgrading.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "crypto/key_file.h"
#include "crypto/recipient.h"
#include "host/testing_opening.h"
#include "store/backup/backup.h"
#include "store/sqlite_store.h"

namespace sluice::host {
namespace upgrading_test {

class Upgrading : public testing::Test {
 protected:
  Upgrading() {
    EXPECT_TRUE(home.home.folder("store"));
    EXPECT_TRUE(home.home.folder("keys"));
    EXPECT_TRUE(crypto::store_private_key(home.disk, home.folder.path("home/keys/operator.pem"), signer));
  }
  // As an earlier Sluice made it.
  void older() {
    store::SqliteOptions options;
    options.schema.migrations.clear();
    ASSERT_TRUE(store::SqliteStore::open(home.disk, path, options));
  }
  Result<UpgradeReport> upgraded(const UpgradeOrder& order) { return upgrade_store(home.opening, clock, order); }

  TestingOpening home{{}};
  RealClock clock;
  crypto::PrivateKey signer = crypto::PrivateKey::generate();
  crypto::RecipientKey pair = crypto::RecipientKey::generate();
  std::string path = home.folder.path("home/store/store.db");
  UpgradeOrder order{.folder = home.folder.path("backups"), .recipient = pair.recipient()};
};

TEST_F(Upgrading, AHomeWithoutAStoreHasNothingToUpgrade) { EXPECT_EQ(upgraded(order).error().code, Code::not_found); }

TEST_F(Upgrading, NothingHappensWithoutAPlaceForTheBackup) {
  older();
  auto refused = upgraded({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "a store is upgraded behind a backup, and nothing says where that goes; nothing was changed");
  EXPECT_EQ(store::SqliteStore::open(home.disk, path).error().next, "sluice store upgrade");
}

TEST_F(Upgrading, ABackupIsMadeAndTheStoreIsBroughtUp) {
  older();
  auto done = upgraded(order);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->from, 1);
  EXPECT_EQ(done->to, 2);
  EXPECT_EQ(done->signer, signer.public_key().key_id());
  EXPECT_TRUE(store::read_backup(home.disk, done->backup, done->signer));
  EXPECT_TRUE(store::SqliteStore::open(home.disk, path));
  auto again = upgraded({});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->from, again->to);
  EXPECT_EQ(again->backup, done->backup) << "it says where the way back is";
}

TEST_F(Upgrading, WithoutABackupTheStoreStaysAsItIs) {
  older();
  order.folder = home.folder.path("home/keys/operator.pem");  // no folder can be made there
  EXPECT_FALSE(upgraded(order));
  EXPECT_EQ(store::SqliteStore::open(home.disk, path).error().next, "sluice store upgrade");
}

}  // namespace upgrading_test
}  // namespace sluice::host
