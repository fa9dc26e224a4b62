// The library as this machine has it.
#include "git/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::git::library_test {

TEST(Library, IsLoadedOnceAndSaysWhatWentWrong) {
  auto loaded = library();
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  EXPECT_EQ(*library(), *loaded);
  git_repository* opened = nullptr;
  EXPECT_NE((*loaded)->repository_open_bare(&opened, "/no/such/folder"), 0);
  EXPECT_THAT((*loaded)->trouble(), testing::HasSubstr("/no/such/folder"));
}

}  // namespace sluice::git::library_test
