// Faults strike where they are told to, and only there.
#include <gtest/gtest.h>

#include "base/testing_faulty_disk.h"
#include "base/testing_volatile_disk.h"

namespace sluice {
namespace faulty_disk_test {

// open, write, sync, rename, sync_folder: five operations. Says for each whether it worked.
std::string run(FaultyDisk& disk) {
  std::string worked;
  auto note = [&](bool ok) { worked += ok ? '+' : '-'; };
  auto file = disk.open("/a", {.write = true, .create = true});
  note(file.has_value());
  if (file) {
    note((*file)->write_at(0, "ABCD").has_value());
    note((*file)->sync(SyncWhat::all).has_value());
  }
  note(disk.rename("/a", "/b").has_value());
  note(disk.sync_folder("/").has_value());
  return worked;
}

TEST(FaultyDisk, CountsOperationsByKind) {
  VolatileDisk under;
  FaultyDisk disk(under);
  EXPECT_EQ(run(disk), "+++++");
  EXPECT_EQ(disk.operations(), 5u);
  EXPECT_EQ(disk.operations_by_kind(), (std::map<DiskOperation, uint64_t>{{DiskOperation::open, 1},
                                                                          {DiskOperation::write, 1},
                                                                          {DiskOperation::sync, 1},
                                                                          {DiskOperation::rename, 1},
                                                                          {DiskOperation::sync_folder, 1}}));
  EXPECT_EQ(disk.struck(), std::nullopt);
}

TEST(FaultyDisk, FailStrikesOnce) {
  VolatileDisk under;
  FaultyDisk disk(under, {.kind = FaultKind::fail, .at = 3});
  EXPECT_EQ(run(disk), "++-++");
  EXPECT_EQ(disk.struck(), DiskOperation::sync);
}

TEST(FaultyDisk, TearWritesHalfAndGoesOn) {
  VolatileDisk under;
  FaultyDisk disk(under, {.kind = FaultKind::tear, .at = 2});
  EXPECT_EQ(run(disk), "+-+++");
  EXPECT_EQ(under.stat("/b", FollowLinks::no)->size, 2u);
}

TEST(FaultyDisk, StopEndsEverything) {
  VolatileDisk under;
  FaultyDisk disk(under, {.kind = FaultKind::stop, .at = 2});
  EXPECT_EQ(run(disk), "+----");
  EXPECT_EQ(under.stat("/a", FollowLinks::no)->size, 2u);
  EXPECT_EQ(disk.list("/").error().message, "cannot list /: the disk has stopped");
}

TEST(FaultyDisk, CountsOnlyTheChosenKind) {
  VolatileDisk under;
  FaultyDisk disk(under, {.kind = FaultKind::fail, .at = 1, .only = DiskOperation::rename, .code = Code::limit});
  EXPECT_EQ(run(disk), "+++-+");
  EXPECT_EQ(disk.struck(), DiskOperation::rename);
}

TEST(FaultyDisk, SaysWhichOperationItStruckAndWithWhichCode) {
  VolatileDisk under;
  FaultyDisk disk(under, {.kind = FaultKind::fail, .at = 2, .code = Code::limit});
  EXPECT_TRUE(disk.exists("/"));
  auto made = disk.make_folder("/d", 0700);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::limit);
  EXPECT_EQ(made.error().message, "cannot make_folder /d: fault at operation 2");
}

TEST(FaultyDisk, LetsTheTestActJustBeforeAnOperation) {
  VolatileDisk under;
  std::string seen;
  FaultyDisk disk(under, {.before = [&](DiskOperation operation) {
                    seen += std::string(operation_name(operation)) + " ";
                    if (operation == DiskOperation::rename) (void)under.remove("/a");
                  }});
  EXPECT_EQ(run(disk), "+++-+");
  EXPECT_EQ(seen, "open write sync rename sync_folder ");
}

TEST(FaultyDisk, EveryOperationCanBeStruck) {
  VolatileDisk under;
  ASSERT_TRUE(under.open("/f", {.write = true, .create = true}));
  for (int kind = 0; kind <= static_cast<int>(DiskOperation::sync_folder); ++kind) {
    auto operation = static_cast<DiskOperation>(kind);
    FaultyDisk disk(under, {.kind = FaultKind::fail, .at = 1, .only = operation});
    auto file = disk.open("/f", {.write = true});
    if (file) {
      char byte;
      (void)(*file)->read_at(0, {&byte, 1});
      (void)(*file)->write_at(0, "x");
      (void)(*file)->truncate(0);
      (void)(*file)->sync(SyncWhat::all);
      (void)(*file)->stat();
      (void)(*file)->chmod(0600);
      (void)(*file)->lock(FileLock::shared);
    }
    (void)disk.rename("/no", "/no");
    (void)disk.remove("/no");
    (void)disk.link("/no", "/no");
    (void)disk.symlink("no", "/f");
    (void)disk.read_link("/f");
    (void)disk.make_folder("/f", 0700);
    (void)disk.remove_folder("/f");
    (void)disk.list("/");
    (void)disk.sync_folder("/");
    EXPECT_EQ(disk.struck(), operation) << operation_name(operation);
  }
}

}  // namespace faulty_disk_test
}  // namespace sluice
