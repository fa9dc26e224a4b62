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

TEST_F(ArchiveTest, AFolderThatIsNotMountedIsNotTakenForAnEmptyOne) {
  auto archive = start();
  wait_for(*archive, 3);
  const std::string place = folder.path("backups"), away = folder.path("away");
  ASSERT_TRUE(disk.rename(place, away));
  ASSERT_TRUE(disk.make_folder(place, 0700));
  step(*store, 4);
  const auto stopped = [&] {
    return archive->status().trouble.find("has lost what was archived there") != std::string::npos;
  };
  EXPECT_TRUE(eventually(stopped));
  archive.reset();
  archive = start();
  EXPECT_TRUE(eventually(stopped));
  EXPECT_TRUE(disk.list(place)->empty());
  ASSERT_TRUE(disk.remove_folder(place));
  ASSERT_TRUE(disk.rename(away, place));
  wait_for(*archive, 4);
  EXPECT_EQ(value_at({}), "4");
}

TEST_F(ArchiveTest, SegmentsThatNoBackupGoesOnFromAreRemoved) {
  const std::string place = folder.path("backups");
  EXPECT_EQ(*prune_segments(disk, place), 0U);
  auto archive = start();
  wait_for(*archive, 3);
  EXPECT_EQ(archive->status().made, 1U);
  for (uint64_t seq = 4; seq <= 6; ++seq) {
    step(*store, seq);
    wait_for(*archive, seq);
  }
  const std::string first = backups_in(disk, place)->front().folder;
  make(*store, "second", 2'000);
  step(*store, 7);
  wait_for(*archive, 7);
  archive.reset();
  EXPECT_EQ(*prune_segments(disk, place), 0U) << "the first backup needs them";
  for (const char* each : {"/manifest.json", "/rows", "/files", "/operator.pub"})
    ASSERT_TRUE(disk.remove(first + each));
  EXPECT_EQ(*prune_segments(disk, place), 3U) << "what the second one has is in it";
  EXPECT_EQ(value_at({}), "7");
  EXPECT_EQ(value_at({.position = 6}), "6");
  // Without any backup nobody can go on from what is left.
  for (const char* each : {"/manifest.json", "/rows", "/files", "/operator.pub"}) {
    ASSERT_TRUE(disk.remove(place + "/second" + each));
  }
  EXPECT_EQ(*prune_segments(disk, place), 1U);
  EXPECT_TRUE(disk.list(place + "/segments")->empty());
}

}  // namespace archive_test
}  // namespace sluice::store
