// What is taken stays what it was; what is no bundle leaves nothing.
#include "deploy/bundle_shelf.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/pack.h"
#include "bundle/sidecar.h"

namespace sluice::deploy {
namespace bundle_shelf_test {

class BundleShelfTest : public testing::Test {
 protected:
  BundleShelfTest() {
    EXPECT_TRUE(disk.make_folder(folder.path("in"), 0755));
    file("in/bundle.yaml", "name: shop\nversion: \"1\"\nrun: [./shop]\n");
    archive = folder.path("shop.bundle");
    EXPECT_TRUE(bundle::pack(disk, folder.path("in"), {"bundle.yaml"}, archive));
  }
  void file(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_atomically(disk, folder.path(name), text, 0644));
  }
  size_t shelved() { return disk.list(folder.path("shelf")).value().size(); }

  TestingFolder folder;
  RealDisk disk;
  std::string archive;
  BundleShelf shelf{disk, folder.path("shelf")};
};

TEST_F(BundleShelfTest, KeepsACopyByItsDigest) {
  file("shop.bundle.sig.json", "signed");
  auto taken = shelf.take(archive, "a1");
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->manifest.name.text, "shop");
  EXPECT_EQ(taken->sidecar, "signed");
  EXPECT_EQ(taken->path, shelf.path_of(taken->archive));
  file("shop.bundle", "something else");
  EXPECT_EQ(shelf.take(taken->path, "a2").value().archive, taken->archive);
  EXPECT_EQ(shelved(), 1U);
  EXPECT_TRUE(shelf.remove(taken->archive));
  EXPECT_TRUE(shelf.remove(taken->archive)) << "it is gone already";
  EXPECT_EQ(shelved(), 0U);
}

TEST_F(BundleShelfTest, WhatIsNoBundleLeavesNothing) {
  file("bad.bundle", "not an archive");
  EXPECT_FALSE(shelf.take(folder.path("bad.bundle"), "a1"));
  EXPECT_EQ(shelf.take(folder.path("none"), "a1").error().code, Code::not_found);
  EXPECT_EQ(shelved(), 0U);
}

TEST_F(BundleShelfTest, ARevocationListIsReadStrictly) {
  file("list.json", R"({"schema":"other","revoked":[]})");
  EXPECT_EQ(revoked_by(disk, folder.path("list.json"), "a", "t").error().code, Code::invalid);
  file("list.json", R"({"schema":"sluice.revocation-list.v1","revoked":[{"digest":"t","reason":"why"}]})");
  EXPECT_EQ(revoked_by(disk, folder.path("list.json"), "a", "t").value(), "why");
  EXPECT_EQ(revoked_by(disk, folder.path("list.json"), "a", "b").value(), std::nullopt);
}

}  // namespace bundle_shelf_test
}  // namespace sluice::deploy
