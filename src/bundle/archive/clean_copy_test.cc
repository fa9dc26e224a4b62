// Copies of chosen files.
#include "bundle/archive/clean_copy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::bundle {
namespace clean_copy_test {

namespace fs = std::filesystem;

class CleanCopyTest : public ::testing::Test {
 protected:
  CleanCopyTest() {
    fs::create_directories(folder.path("from/bin"));
    fs::create_directory(folder.path("to"));
    std::ofstream(folder.path("from/bin/app")) << "program";
    fs::permissions(folder.path("from/bin/app"), fs::perms(0700));
    std::ofstream(folder.path("from/text")) << std::string(600'000, 'x');
    std::ofstream(folder.path("from/left")) << "out";
    fs::create_directory(folder.path("from/empty"));
    fs::create_symlink("../text", folder.path("from/bin/link"));
  }
  Result<void> copy(const std::vector<std::string>& paths) {
    return copy_chosen(disk, folder.path("from"), paths, folder.path("to"));
  }
  fs::perms mode(const std::string& path) { return fs::status(folder.path("to/" + path)).permissions(); }

  TestingFolder folder;
  RealDisk disk;
};

TEST_F(CleanCopyTest, HasWhatWasChosenWithPlainModes) {
  auto copied = copy({"bin/app", "bin/link", "empty", "text"});
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(mode("bin/app"), fs::perms(0755));
  EXPECT_EQ(mode("text"), fs::perms(0644));
  EXPECT_EQ(mode("bin"), fs::perms(0755));
  EXPECT_EQ(fs::file_size(folder.path("to/text")), 600'000U);
  EXPECT_EQ(fs::read_symlink(folder.path("to/bin/link")), "../text");
  EXPECT_TRUE(fs::is_directory(folder.path("to/empty")));
  EXPECT_FALSE(fs::exists(folder.path("to/left")));
}

TEST_F(CleanCopyTest, ReadsNothingThroughASymlink) {
  fs::create_directory(folder.path("elsewhere"));
  std::ofstream(folder.path("elsewhere/app")) << "other";
  fs::create_directory_symlink(folder.path("elsewhere"), folder.path("from/out"));
  EXPECT_EQ(copy({"out/app"}).error().code, Code::denied);
}

TEST_F(CleanCopyTest, SaysWhatIsMissing) { EXPECT_EQ(copy({"none"}).error().code, Code::not_found); }

}  // namespace clean_copy_test
}  // namespace sluice::bundle
