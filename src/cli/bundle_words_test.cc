// Words that the commands about bundles share.
#include "cli/bundle_words.h"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace bundle_words_test {

TEST(BundleWords, CountThings) {
  EXPECT_EQ(counted_things(1, "entry", "entries"), "1 entry");
  EXPECT_EQ(counted_things(0, "entry", "entries"), "0 entries");
}

TEST(BundleWords, TakeSlashesOffAFolder) {
  EXPECT_EQ(plain_folder("a/b//"), "a/b");
  EXPECT_EQ(plain_folder("/"), "/");
  EXPECT_EQ(plain_folder("."), ".");
}

}  // namespace bundle_words_test
}  // namespace sluice::cli
