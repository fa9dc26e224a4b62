// Keys are made once, kept to ourselves, and change with time.
#include "deploy/cookie_keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "crypto/base64.h"

namespace sluice::deploy {
namespace cookie_keys_test {

constexpr int64_t kDay_ms = 86'400'000;

class CookieKeysTest : public testing::Test {
 protected:
  TestingFolder folder;
  RealDisk disk;
  ManualClock clock{1'700'000'000'000};
  SeededRandom random{7};
  std::string path = folder.path("cookies.json");
  CookieKeys keys{disk, clock, random, path};
};

TEST_F(CookieKeysTest, AreMadeOnFirstUseAndKept) {
  auto first = keys.current().value();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].id, "k1");
  EXPECT_EQ(crypto::from_base64(first[0].key, crypto::Base64::url_unpadded).value().size(), 32U);
  EXPECT_EQ(disk.stat(path, FollowLinks::no)->mode, 0600U);
  CookieKeys again(disk, clock, random, path);
  EXPECT_EQ(again.current().value()[0].key, first[0].key);
}

TEST_F(CookieKeysTest, ANewOneTakesOverAfterThirtyDaysAndTheOldOnesStillVerify) {
  const std::string first = keys.current().value()[0].key;
  clock.advance_ms(31 * kDay_ms);
  auto two = keys.current().value();
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].id, "k2");
  EXPECT_EQ(two[1].key, first);
  for (int i = 0; i < 3; ++i) {
    clock.advance_ms(31 * kDay_ms);
    ASSERT_TRUE(keys.current());
  }
  auto last = keys.current().value();
  ASSERT_EQ(last.size(), 3U);
  EXPECT_EQ(last[0].id, "k5");
}

TEST_F(CookieKeysTest, AFileThatOthersCanReadIsRefused) {
  ASSERT_TRUE(keys.current());
  ASSERT_TRUE(disk.chmod(path, 0644));
  EXPECT_EQ(keys.current().error().message, path + " can be read by others, and signs the visitors' cookies");
}

TEST_F(CookieKeysTest, AFileThatIsNoneIsRefused) {
  ASSERT_TRUE(write_atomically(disk, path, "{", 0600));
  EXPECT_EQ(keys.current().error().code, Code::invalid);
}

}  // namespace cookie_keys_test
}  // namespace sluice::deploy
