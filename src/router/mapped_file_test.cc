// Memory that is a file.
#include "router/mapped_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/testing_folder.h"

namespace sluice::router {
namespace mapped_file_test {

TEST(MappedFile, KeepsWhatWasStoredInIt) {
  TestingFolder folder;
  {
    auto file = MappedFile::open(folder.path("a"), 3 * kPageBytes);
    ASSERT_TRUE(file);
    EXPECT_EQ(std::filesystem::file_size(folder.path("a")), 3 * kPageBytes);
    ASSERT_TRUE(file->hold(0, 3 * kPageBytes));
    std::memcpy(file->bytes() + 9'000, "here", 4);
  }
  auto again = MappedFile::open(folder.path("a"), 3 * kPageBytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(std::memcmp(again->bytes() + 9'000, "here", 4), 0);
  EXPECT_EQ(MappedFile::open(folder.path("a"), 5 * kPageBytes).error().code, Code::conflict);
  EXPECT_EQ(MappedFile::open(folder.path("none/a"), kPageBytes).error().code, Code::not_found);
}

TEST(MappedFile, HasPagesInMemoryThatItsSpareKeeps) {
  TestingFolder folder;
  int spare = *make_spare_memory(4 * kPageBytes);
  {
    auto file = MappedFile::open(folder.path("a"), 4 * kPageBytes, spare);
    ASSERT_TRUE(file);
    std::memcpy(file->bytes(), "disk", 4);
    ASSERT_TRUE(file->use_memory(kPageBytes, kPageBytes));
    std::memcpy(file->bytes() + kPageBytes, "memory", 6);
  }
  auto again = MappedFile::open(folder.path("a"), 4 * kPageBytes, spare);
  ::close(spare);
  ASSERT_TRUE(again);
  char bytes[6];
  ASSERT_TRUE(again->read(0, bytes, 4));
  EXPECT_EQ(std::string(bytes, 4), "disk");
  ASSERT_TRUE(again->read(kPageBytes, bytes, 6));
  EXPECT_EQ(bytes[0], 0) << "the file has nothing of it";
  ASSERT_TRUE(again->read_memory(kPageBytes, bytes, 6));
  EXPECT_EQ(std::string(bytes, 6), "memory");
}

TEST(FirstWeek03, AWriteThatTheDiskFailsToTakeGoesToMemory) {
  TestingFolder folder;
  auto opened = MappedFile::open(folder.path("a"), 4 * kPageBytes);
  ASSERT_TRUE(opened);
  MappedFile file = *std::move(opened);
  ASSERT_TRUE(file.hold(0, 4 * kPageBytes));
  file.rescue_from_disk_faults();
  std::memcpy(file.bytes() + kPageBytes, "before", 6);
  // The kernel can give the rest of the file to nobody any more, as after an error of its disk.
  std::filesystem::resize_file(folder.path("a"), kPageBytes);
  std::memcpy(file.bytes() + 2 * kPageBytes, "here", 4);
  EXPECT_EQ(std::memcmp(file.bytes() + 2 * kPageBytes, "here", 4), 0);
  EXPECT_EQ(file.rescued(), 1U);
  std::memcpy(file.bytes(), "disk", 4);
  EXPECT_EQ(file.rescued(), 1U) << "what the disk takes is the file's";
  ::signal(SIGBUS, SIG_DFL);
}

}  // namespace mapped_file_test
}  // namespace sluice::router
