// Trees and digests of archives that are not unpacked.
#include "bundle/trust/verify.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "bundle/archive/testing_archives.h"

namespace sluice::bundle {
namespace verify_test {

TEST(Verify, HoldsAnArchiveToItsTreeDigest) {
  VolatileDisk disk;
  std::string image = squash_of({{"a", "hello"}});
  ASSERT_TRUE(write_atomically(disk, "/app.bundle", image, 0644));
  Tree expected;
  expected.add(tree_file("a", "hello"));
  auto tree = verify_tree_digest(disk, "/app.bundle", expected.digest());
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(*tree, expected);
  auto other = verify_tree_digest(disk, "/app.bundle", std::string(64, '0'));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::verification_failed);
  EXPECT_EQ(other.error().message,
            "/app.bundle: the tree digest is " + expected.digest() + ", not " + std::string(64, '0'));
}

TEST(Verify, ContentThatChangedChangesTheDigest) {
  std::string tar = tar_of({{.name = "a", .content = "hello"}});
  TreeDigest before = tree_of_bytes(tar)->digest();
  tar[512] = 'H';
  EXPECT_NE(tree_of_bytes(tar)->digest(), before);
}

TEST(Verify, GivesTheDigestOfAFile) {
  VolatileDisk disk;
  ASSERT_TRUE(write_atomically(disk, "/f", "hello", 0644));
  EXPECT_EQ(*sha256_of_file(disk, "/f"), "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
  std::string large(600'000, 'x');
  ASSERT_TRUE(write_atomically(disk, "/large", large, 0644));
  EXPECT_EQ(*sha256_of_file(disk, "/large"), crypto::to_hex(crypto::sha256(large)));
  EXPECT_EQ(sha256_of_file(disk, "/missing").error().code, Code::not_found);
}

}  // namespace verify_test
}  // namespace sluice::bundle
