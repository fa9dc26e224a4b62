// Memory that is a file.
#include "router/mapped_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/testing_folder.h"

namespace sluice::router {
namespace mapped_file_test {

TEST(MappedFile, KeepsWhatWasStoredInIt) {
  TestingFolder folder;
  {
    auto file = MappedFile::open(folder.path("a"), 10'000);
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->made());
    std::memcpy(file->bytes() + 9'000, "here", 4);
  }
  auto again = MappedFile::open(folder.path("a"), 10'000);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->made());
  EXPECT_EQ(std::memcmp(again->bytes() + 9'000, "here", 4), 0);
  EXPECT_EQ(MappedFile::open(folder.path("a"), 20'000).error().code, Code::conflict);
  EXPECT_EQ(MappedFile::open(folder.path("none/a"), 10).error().code, Code::not_found);
}

}  // namespace mapped_file_test
}  // namespace sluice::router
