// Names beside the final one, and folders that go away with all that is in them.
#include "bundle/archive/unfinished.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_volatile_disk.h"

namespace sluice::bundle {
namespace unfinished_test {

TEST(Unfinished, TakesTheNextFreeName) {
  VolatileDisk disk;
  ASSERT_TRUE(disk.make_folder("/d", 0755));
  std::string stem = "/d/.out." + std::to_string(::getpid()) + ".";
  EXPECT_EQ(create_file_beside(disk, "/d/out")->path, stem + "0.unfinished");
  EXPECT_EQ(create_file_beside(disk, "/d/out")->path, stem + "1.unfinished");
  EXPECT_EQ(*make_folder_beside(disk, "/d/out"), stem + "2.unfinished");
  EXPECT_EQ(disk.stat(stem + "2.unfinished", FollowLinks::no)->mode, 0700u);
}

TEST(Unfinished, SaysThatTheFolderIsNotThere) {
  VolatileDisk disk;
  EXPECT_EQ(create_file_beside(disk, "/no/out").error().code, Code::not_found);
  EXPECT_EQ(make_folder_beside(disk, "/no/out").error().code, Code::not_found);
}

TEST(RemoveTree, FollowsNoSymlink) {
  TestingFolder folder;
  RealDisk disk;
  ASSERT_TRUE(disk.make_folder(folder.path("keep"), 0755));
  ASSERT_TRUE(disk.open(folder.path("keep/file"), {.write = true, .create = true}));
  ASSERT_TRUE(disk.make_folder(folder.path("go"), 0755));
  ASSERT_TRUE(disk.make_folder(folder.path("go/deep"), 0755));
  ASSERT_TRUE(disk.open(folder.path("go/deep/file"), {.write = true, .create = true}));
  ASSERT_TRUE(disk.symlink("../keep", folder.path("go/link")));
  ASSERT_TRUE(remove_tree(disk, folder.path("go")));
  EXPECT_FALSE(*disk.exists(folder.path("go")));
  EXPECT_TRUE(*disk.exists(folder.path("keep/file")));
  EXPECT_EQ(remove_tree(disk, folder.path("go")).error().code, Code::not_found);
}

}  // namespace unfinished_test
}  // namespace sluice::bundle
