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
  EXPECT_EQ(value_at({.position = 2}), "no backup there is as old as that");
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
}

}  // namespace restore_test
}  // namespace sluice::store
