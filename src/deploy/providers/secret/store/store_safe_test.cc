// Texts are sealed under the environment's key, and gone when they are removed.
#include "deploy/providers/secret/store/store_safe.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::secret_store {
namespace store_safe_test {

TEST(StoreSafe, KeepsATextUntilItIsRemoved) {
  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  SeededRandom random{7};
  process::RealRunner runner{clock};
  SealedStore store(disk, random, runner, {.folder = folder.path("secrets"), .keys = folder.path("keys")});
  const executor::Safe safe = safe_of(store, disk);
  RowsInMemory rows;
  EXPECT_FALSE(safe.get("local", "a"));
  ASSERT_TRUE(safe.put(rows, "local", "a", "a text", "me"));
  EXPECT_EQ(*safe.get("local", "a"), "a text");
  ASSERT_TRUE(safe.remove("local", "a"));
  EXPECT_FALSE(safe.get("local", "a"));
}

}  // namespace store_safe_test
}  // namespace sluice::deploy::secret_store
