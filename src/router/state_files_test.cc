// Snapshot and patches: whole, or known not to be.
#include "router/state_files.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_volatile_disk.h"

namespace sluice::router {
namespace state_files_test {

class StateFilesOnDisk : public testing::Test {
 protected:
  StateFilesOnDisk() { EXPECT_TRUE(disk.make_folder("/r", 0700)); }

  VolatileDisk disk;
  StateFiles state{disk, "/r"};
};

TEST_F(StateFilesOnDisk, ReadsBackWhatWasPut) {
  EXPECT_FALSE(state.read()->snapshot);
  ASSERT_TRUE(state.put_snapshot({"e1", "table\nwith lines"}));
  ASSERT_TRUE(state.append_patch({"e2", "p2"}));
  ASSERT_TRUE(state.append_patch({"e3", std::string("p\0"
                                                    "3",
                                                    3)}));
  StateFiles again(disk, "/r");
  auto read = again.read();
  EXPECT_EQ(read->snapshot, (KeptOrder{"e1", "table\nwith lines"}));
  EXPECT_EQ(read->patches, (std::vector<KeptOrder>{{"e2", "p2"},
                                                   {"e3", std::string("p\0"
                                                                      "3",
                                                                      3)}}));
  EXPECT_EQ(read->fault, "");
  ASSERT_TRUE(again.append_patch({"e4", "p4"}));
  EXPECT_EQ(StateFiles(disk, "/r").read()->patches.size(), 3U);
}

TEST_F(StateFilesOnDisk, ForgetsPatchesWithANewSnapshot) {
  ASSERT_TRUE(state.put_snapshot({"e1", "t1"}));
  ASSERT_TRUE(state.append_patch({"e2", "p2"}));
  ASSERT_TRUE(state.put_snapshot({"e5", "t5"}));
  auto read = StateFiles(disk, "/r").read();
  EXPECT_EQ(read->snapshot->envelope, "e5");
  EXPECT_TRUE(read->patches.empty());
}

TEST_F(StateFilesOnDisk, StopsAtAPatchThatIsCutShortAnywhere) {
  ASSERT_TRUE(state.put_snapshot({"e1", "t1"}));
  ASSERT_TRUE(state.append_patch({"e2", "p2"}));
  uint64_t first = state.patch_bytes();
  ASSERT_TRUE(state.append_patch({"e3", "p3"}));
  uint64_t all = state.patch_bytes();
  for (uint64_t size = first + 1; size < all; ++size) {
    ASSERT_TRUE((*disk.open("/r/patches", {.write = true}))->truncate(size));
    auto read = StateFiles(disk, "/r").read();
    EXPECT_EQ(read->patches.size(), 1U);
    EXPECT_EQ(read->fault, "the last patch is cut short");
    StateFiles again(disk, "/r");
    ASSERT_TRUE(again.read());
    ASSERT_TRUE(again.keep_patches(1));
    ASSERT_TRUE(again.append_patch({"e3", "p3"}));
    EXPECT_EQ(StateFiles(disk, "/r").read()->fault, "");
  }
}

TEST_F(StateFilesOnDisk, StopsAtAPatchThatIsDamaged) {
  ASSERT_TRUE(state.put_snapshot({"e1", "t1"}));
  ASSERT_TRUE(state.append_patch({"e2", "p2"}));
  ASSERT_TRUE((*disk.open("/r/patches", {.write = true}))->write_at(42, "X"));
  auto read = StateFiles(disk, "/r").read();
  EXPECT_TRUE(read->patches.empty());
  EXPECT_NE(read->fault, "");
}

}  // namespace state_files_test
}  // namespace sluice::router
