// Which files of a home a backup has, which of them are sealed, and how a change is noticed.
#include "store/backup/home_files.h"

#include "store/backup/testing_backups.h"

namespace sluice::store {
namespace home_files_test {

using HomeFiles = BackupTest;

TEST_F(HomeFiles, WhatBelongsToTheMachineAloneIsLeftOut) {
  auto now = files_of_home(disk, folder.path("home"));
  ASSERT_TRUE(now) << now.error().message;
  std::vector<std::string> names;
  for (const auto& [name, mark] : *now) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"blobs/large", "keys/operator.pem", "store/audit.heads", "tls/shop"}));
  EXPECT_EQ(now->at("tls/shop").target, ".kept/one");
  EXPECT_EQ(now->at("blobs/large").size, (1U << 20) + 17);
}

TEST_F(HomeFiles, AChangeIsNoticed) {
  const auto before = *files_of_home(disk, folder.path("home"));
  EXPECT_EQ(*files_of_home(disk, folder.path("home")), before);
  put("keys/operator.pem", "another key");
  EXPECT_NE(*files_of_home(disk, folder.path("home")), before);
}

TEST_F(HomeFiles, KeysAreSealedAndContentIsNot) {
  EXPECT_TRUE(is_sealed_in_backup("keys/operator.pem"));
  EXPECT_FALSE(is_sealed_in_backup("blobs/large"));
}

}  // namespace home_files_test
}  // namespace sluice::store
