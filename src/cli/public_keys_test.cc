// Keys in a file, one or more.
#include "cli/public_keys.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_volatile_disk.h"

namespace sluice::cli {
namespace public_keys_test {

TEST(PublicKeys, AreReadOneAfterTheOther) {
  VolatileDisk disk;
  const auto ann = crypto::PrivateKey::generate().public_key(), ben = crypto::PrivateKey::generate().public_key();
  ASSERT_TRUE(write_atomically(disk, "/keys", "ann\n" + ann.to_pem() + "ben\n" + ben.to_pem(), 0644));
  auto keys = public_keys_in(disk, "/keys");
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(*keys, (std::vector{ann, ben}));
}

TEST(PublicKeys, AFileWithoutOneIsRefused) {
  VolatileDisk disk;
  ASSERT_TRUE(write_atomically(disk, "/keys", "nothing", 0644));
  EXPECT_EQ(public_keys_in(disk, "/keys").error().code, Code::invalid);
  EXPECT_EQ(public_keys_in(disk, "/none").error().code, Code::not_found);
}

}  // namespace public_keys_test
}  // namespace sluice::cli
