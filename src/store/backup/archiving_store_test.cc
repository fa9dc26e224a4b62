// What a store keeps for the archive, also for a process that comes later.
#include "store/backup/archiving_store.h"

#include "store/backup/testing_backups.h"

namespace sluice::store {
namespace archiving_store_test {

TEST_F(ArchiveTest, AnotherProcessKeepsWhatItCommitsBeforeItArchives) {
  auto file = SqliteStore::open(disk, folder.path("archived.db"));
  ASSERT_TRUE(file);
  store = std::make_unique<ArchivingStore>(*std::move(file), clock);
  step(*store, 1);
  auto archive = start();
  wait_for(*archive, 1);
  archive.reset();
  store.reset();
  file = SqliteStore::open(disk, folder.path("archived.db"));
  ASSERT_TRUE(file);
  store = std::make_unique<ArchivingStore>(*std::move(file), clock);
  ASSERT_TRUE(store->resume());
  step(*store, 2);
  archive = start();
  wait_for(*archive, 2);
  EXPECT_EQ(value_at({}), "2");
  EXPECT_EQ(backups_in(disk, folder.path("backups"))->size(), 1U);
  // Whoever ends it and begins again needs another backup: nobody has kept what was between.
  archive.reset();
  ASSERT_TRUE(store->end());
  step(*store, 3);
  archive = start();
  wait_for(*archive, 3);
  EXPECT_EQ(value_at({}), "3");
  EXPECT_EQ(backups_in(disk, folder.path("backups"))->size(), 2U);
}

}  // namespace archiving_store_test
}  // namespace sluice::store
