// Files of every kind, as they are on a disk.
#include "base/replaceable.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice {
namespace replaceable_test {

struct ReplaceableTest : testing::Test {
  std::string fifo() {
    std::string path = folder.path("fifo");
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return path;
  }

  TestingFolder folder;
  RealDisk disk;
};

TEST_F(ReplaceableTest, FilesAndNothingAre) {
  EXPECT_TRUE(check_replaceable(disk, folder.path("none")));
  EXPECT_TRUE(check_replaceable(disk, folder.path("none/none")));
  ASSERT_TRUE(write_atomically(disk, folder.path("file"), "1", 0600));
  EXPECT_TRUE(check_replaceable(disk, folder.path("file")));
  ASSERT_EQ(::symlink("none", folder.path("dangling").c_str()), 0);
  EXPECT_TRUE(check_replaceable(disk, folder.path("dangling")));
}

TEST_F(ReplaceableTest, DevicesAndFifosAreNot) {
  const std::string path = fifo();
  ASSERT_EQ(::symlink(path.c_str(), folder.path("link").c_str()), 0);
  for (const std::string& each : {path, folder.path("link"), std::string("/dev/null")}) {
    auto checked = check_replaceable(disk, each);
    ASSERT_FALSE(checked) << each;
    EXPECT_EQ(checked.error().code, Code::conflict);
    EXPECT_EQ(checked.error().message, each + " is a device, a FIFO or a socket, and was left as it is");
  }
}

}  // namespace replaceable_test
}  // namespace sluice
