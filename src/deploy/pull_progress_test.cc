// What is written of a pull is read as it was, and anything else is nothing.
#include "deploy/pull_progress.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::deploy {
namespace pull_progress_test {

TEST(PullProgress, IsReadAsItWasTold) {
  TestingFolder folder;
  RealDisk disk;
  const std::string path = folder.path("images");
  EXPECT_EQ(pull_of(disk, path, "r1"), std::nullopt);
  tell_pull(disk, path, "r1", {.image = "nowhere"});
  EXPECT_EQ(pull_of(disk, path, "r1"), std::nullopt) << "a folder that is not there is no fault";
  ASSERT_TRUE(disk.make_folder(path, 0755));
  const PullTold told{.image = "registry.example/team/shop:1.4", .done_bytes = 12'000'000, .all_bytes = 80'500'000};
  tell_pull(disk, path, "r1", told);
  EXPECT_EQ(pull_of(disk, path, "r1"), told);
  EXPECT_EQ(pull_of(disk, path, "r2"), std::nullopt);
  forget_pull(disk, path, "r1");
  EXPECT_EQ(pull_of(disk, path, "r1"), std::nullopt);
  EXPECT_TRUE(disk.list(path)->empty());
}

TEST(PullProgress, SaysHowMuchIsThere) {
  EXPECT_EQ(to_text({.image = "registry.example/shop:1"}), "pulling registry.example/shop:1");
  EXPECT_EQ(to_text({.image = "registry.example/shop:1", .done_bytes = 12'000'000, .all_bytes = 80'500'000}),
            "pulling registry.example/shop:1: 12.0 of 80.5 MB");
}

}  // namespace pull_progress_test
}  // namespace sluice::deploy
