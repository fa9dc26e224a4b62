// RealDisk against the system's own file system. What every disk promises is tested once, for all of them, in
// disk_contract_test.cc; here is what only the real one has.
#include "base/real_disk.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/testing_folder.h"

namespace sluice {
namespace real_disk_test {

TEST(RealDisk, RefusesPathsWithANul) {
  RealDisk disk;
  auto file = disk.open(std::string("/etc/passwd\0.txt", 16), {});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Code::invalid);
}

TEST(RealDisk, DoesNotWaitForTheOtherEndOfAFifo) {
  TestingFolder folder;
  RealDisk disk;
  ASSERT_EQ(::mkfifo(folder.path("fifo").c_str(), 0600), 0);
  auto file = disk.open(folder.path("fifo"), {});
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->stat()->kind, FileKind::other);
}

TEST(RealDisk, ReadsFilesWhoseSizeTheSystemDoesNotKnow) {
  RealDisk disk;
  auto file = disk.open("/proc/self/stat", {});
  ASSERT_TRUE(file);
  EXPECT_EQ(*(*file)->size(), 0u);
  char bytes[4096];
  EXPECT_GT(*(*file)->read_at(0, bytes), 20u);
}

TEST(RealDisk, ReportsAFullDiskAsALimit) {
  RealDisk disk;
  auto file = disk.open("/dev/full", {.write = true});
  ASSERT_TRUE(file);
  auto written = (*file)->write_at(0, "bytes");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::limit);
  EXPECT_EQ(written.error().message, "cannot write /dev/full: No space left on device");
}

}  // namespace real_disk_test
}  // namespace sluice
