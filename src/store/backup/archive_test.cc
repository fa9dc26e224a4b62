// What is archived behind a backup, and when another backup is needed.
#include "store/backup/archive.h"

#include "store/backup/testing_backups.h"

namespace sluice::store {
namespace archive_test {

TEST_F(ArchiveTest, NothingIsLostBetweenTheCommitAndTheArchive) {
  auto archive = start();
  wait_for(*archive, 3);
  archive.reset();
  for (uint64_t seq = 4; seq <= 6; ++seq) step(*store, seq);  // they are in the ring alone
  archive = start();
  wait_for(*archive, 6);
  EXPECT_EQ(value_at({.position = 5}), "5");
  EXPECT_EQ(backups_in(disk, folder.path("backups"))->size(), 1U);
}

TEST_F(ArchiveTest, WhatIsMoreThanTheRingHoldsNeedsAnotherBackup) {
  auto archive = start();
  wait_for(*archive, 3);
  archive.reset();
  for (uint64_t seq = 4; seq <= 1'100; ++seq) step(*store, seq);
  archive = start();
  wait_for(*archive, 1'100);
  EXPECT_EQ(value_at({}), "1100");
  EXPECT_EQ(backups_in(disk, folder.path("backups"))->size(), 2U);
}

}  // namespace archive_test
}  // namespace sluice::store
