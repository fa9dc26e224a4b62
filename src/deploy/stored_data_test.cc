// Sizes of folders.
#include "deploy/stored_data.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing_folder.h"

namespace sluice::deploy {
namespace stored_data_test {

TEST(StoredData, CountsTheBytesOfAllFiles) {
  TestingFolder folder;
  const StoredData stored(folder.path("storage"));
  EXPECT_FALSE(stored.has("shop"));
  EXPECT_EQ(stored.bytes_of("shop"), 0U);
  std::filesystem::create_directories(folder.path("storage/shop/data/deep"));
  std::ofstream(folder.path("storage/shop/data/a")) << "hello";
  std::ofstream(folder.path("storage/shop/data/deep/b")) << "you";
  std::filesystem::create_symlink(folder.path("storage/shop/data/a"), folder.path("storage/shop/c"));
  EXPECT_TRUE(stored.has("shop"));
  EXPECT_FALSE(stored.has("")) << "that is all of it";
  EXPECT_EQ(stored.bytes_of("shop"), 8U);
}

}  // namespace stored_data_test
}  // namespace sluice::deploy
