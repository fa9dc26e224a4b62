// A restore refuses a home that is in use, and leaves one empty for which there is no backup; what it brings back is
// tried in tests/store.
#include "host/restoring.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "host/testing_opening.h"

namespace sluice::host {
namespace restoring_test {

struct Restoring : testing::Test {
  Result<RestoreReport> restored() {
    return restore_home(home.opening, clock,
                        {.folder = home.folder.path("backups"), .key = key, .signer = std::string(32, 'a')});
  }

  TestingOpening home{{}};
  RealClock clock;
  crypto::RecipientKey key = crypto::RecipientKey::generate();
};

TEST_F(Restoring, AHomeInUseIsLeftAlone) {
  std::filesystem::create_directories(home.folder.path("home/store"));
  ASSERT_TRUE(home.opening.disk.make_folder(home.folder.path("backups"), 0700));
  ASSERT_TRUE(write_atomically(home.opening.disk, home.folder.path("home/store/store.db"), "a store", 0600));
  auto refused = restored();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_NE(refused.error().message.find("this home is in use already"), std::string::npos) << refused.error().message;
}

TEST_F(Restoring, WithoutABackupTheHomeStaysEmpty) {
  ASSERT_TRUE(home.opening.disk.make_folder(home.folder.path("backups"), 0700));
  EXPECT_FALSE(restored());
  EXPECT_FALSE(std::filesystem::exists(home.folder.path("home/store/store.db")));
}

}  // namespace restoring_test
}  // namespace sluice::host
