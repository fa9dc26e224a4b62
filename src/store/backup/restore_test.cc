// Any moment is restored, and nothing of what is damaged.
#include "store/backup/restore.h"

#include "store/backup/testing_backups.h"

namespace sluice::store {
namespace restore_test {

TEST_F(ArchiveTest, AnyMomentSinceTheBackupCanBeHad) {
  auto archive = start();
  wait_for(*archive, 3);
  for (uint64_t seq = 4; seq <= 9; ++seq) step(*store, seq);
  put("keys/new.key", "made later");
  step(*store, 10);
  wait_for(*archive, 10);
  EXPECT_EQ(value_at({.position = 3}), "3");
  EXPECT_EQ(value_at({.position = 7}), "7");
  later.clear();
  EXPECT_EQ(value_at({.position = 8}), "8");
  EXPECT_EQ(later, (std::vector<std::string>{"record 9", "record 10"})) << "what came later is told";
  EXPECT_EQ(value_at({}), "10");
  EXPECT_EQ(got("keys/new.key"), "made later");
  EXPECT_EQ(value_at({.position = 2}).find("no backup there is as old as that: the oldest was made at position 3"), 0U);
}

TEST_F(ArchiveTest, ADamagedSegmentIsNamedAndNothingIsRestored) {
  auto archive = start();
  wait_for(*archive, 3);
  step(*store, 4);
  wait_for(*archive, 4);
  archive.reset();
  const std::string lines = folder.path("backups/segments");
  const std::string place = lines + "/" + disk.list(lines)->front().name;
  const std::string path = place + "/" + disk.list(place)->front().name;
  damage(path, 30);
  MemoryStore empty;
  auto restored = bring_back({}, empty);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().message, "the segment " + path + ".json is damaged");
  EXPECT_EQ(restored.error().next, "restore a moment before it: --at 3");
  EXPECT_EQ((*empty.read())->position(), 0U);
  restored = bring_back({.position = 3}, empty);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->unread, std::vector<std::string>{path + ".json"});
}

TEST_F(ArchiveTest, AMissingSegmentIsNoticed) {
  auto archive = start();
  wait_for(*archive, 3);
  for (uint64_t seq = 4; seq <= 5; ++seq) {
    step(*store, seq);
    wait_for(*archive, seq);
  }
  archive.reset();
  const std::string lines = folder.path("backups/segments");
  const std::string place = lines + "/" + disk.list(lines)->front().name;
  ASSERT_TRUE(disk.remove(place + "/" + disk.list(place)->at(1).name));
  MemoryStore empty;
  auto restored = bring_back({}, empty);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().message.find("nothing is archived right behind position 3: the segment of batch "), 0U)
      << restored.error().message;
  EXPECT_EQ(value_at({.position = 3}), "3");
}

TEST_F(BackupTest, AMomentBeforeAllBackupsIsNamed) {
  make(memory, "one");
  make(memory, "two", 2'000);
  EXPECT_EQ(choose_backup(disk, folder.path("backups"), signed_by(), {.position = 2}).error().message,
            "no backup there is as old as that: the oldest was made at position 3, 1970-01-01T00:00:01.000Z");
  damage(folder.path("backups/two/manifest.json"), 20);
  auto chosen = choose_backup(disk, folder.path("backups"), signed_by(), {});
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->manifest.id, "one") << "the segments behind it lead to the same moment";
  damage(folder.path("backups/one/manifest.json"), 20);
  EXPECT_EQ(choose_backup(disk, folder.path("backups"), signed_by(), {}).error().code, Code::verification_failed);
}

}  // namespace restore_test
}  // namespace sluice::store
