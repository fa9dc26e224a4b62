// What is taken stays what it was; what is no bundle leaves nothing.
#include "deploy/bundle_shelf.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/archive/pack.h"
#include "bundle/trust/sidecar.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

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

  TestingFolder folder;
  RealDisk disk;
  std::string archive;
  BundleShelf shelf{disk, folder.path("shelf")};
};

TEST_F(BundleShelfTest, KeepsACopyOfEachRevisionWithItsPapers) {
  file("shop.bundle.sig.json", "signed");
  auto taken = shelf.take(archive, "r1");
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->manifest.name.text, "shop");
  EXPECT_EQ(taken->sidecar, "signed");
  EXPECT_EQ(taken->path, folder.path("shelf/r1/archive.bundle"));
  EXPECT_EQ(read_file(disk, sidecar_beside(taken->path), 100).value(), "signed");
  auto lock = parse_json(read_file(disk, lock_beside(taken->path), 1000).value()).value().root;
  EXPECT_EQ(
      lock,
      json::value(
          {{"schema", "sluice.pack-list-lock.v1"},
           {"revision_id", "r1"},
           {"packs", json::array{{{"pack_id", "shop"}, {"path", "archive.bundle"}, {"digest", taken->archive}}}}}));
  EXPECT_TRUE(shelf.take(archive, "r1")) << "a repeat is harmless";
  file("shop.bundle", "something else");
  EXPECT_EQ(shelf.take(taken->path, "r2").value().archive, taken->archive);
  EXPECT_EQ(shelf.revisions().value(), (std::vector<std::string>{"r1", "r2"}));
  EXPECT_EQ(disk.list(folder.path("shelf/r1")).value().size(), 3U) << "nothing unfinished is left";
  EXPECT_TRUE(shelf.remove("r1"));
  EXPECT_TRUE(shelf.remove("r1")) << "it is gone already";
  EXPECT_EQ(shelf.revisions().value(), (std::vector<std::string>{"r2"}));
}

TEST_F(BundleShelfTest, TakesWhatWasPutIntoTheHomeByItsDigest) {
  auto blob = [&](const std::string& text) {
    const std::string digest = crypto::to_hex(crypto::sha256(text));
    std::filesystem::create_directories(folder.path("uploads/" + digest.substr(0, 2)));
    file("uploads/" + digest.substr(0, 2) + "/" + digest.substr(2), text);
    return "sha256:" + digest;
  };
  const std::string bytes = read_file(disk, archive, 1 << 20).value(), digest = blob(bytes);
  EXPECT_EQ(shelf.look(digest).value().manifest.name.text, "shop");
  EXPECT_EQ(shelf.take(digest, "r1").value().sidecar, "");
  auto signed_ = shelf.take(digest + "," + blob("signed"), "r2");
  EXPECT_EQ(signed_.value().sidecar, "signed");
  EXPECT_EQ(signed_.value().archive, digest);
  ASSERT_TRUE(shelf.drop(digest));
  ASSERT_TRUE(shelf.drop(digest)) << "it is gone already";
  ASSERT_TRUE(shelf.drop(archive)) << "a file of somebody else stays";
  EXPECT_TRUE(disk.exists(archive).value());
  EXPECT_EQ(shelf.take(digest, "r3").value().archive, digest) << "a revision that is kept was made of it";
  ASSERT_TRUE(shelf.remove("r1"));
  ASSERT_TRUE(shelf.remove("r2"));
  ASSERT_TRUE(shelf.remove("r3"));
  EXPECT_EQ(shelf.take(digest, "r4").error().message, "there is no archive " + digest + " in this home");
  const std::string none = "sha256:" + std::string(64, '0');
  file("uploads/" + digest.substr(7, 2) + "/" + digest.substr(9), bytes);
  EXPECT_EQ(shelf.look(digest + "," + none).error().message, "there are no signatures " + none + " in this home");
  file("uploads/" + digest.substr(7, 2) + "/" + digest.substr(9), "damaged");
  EXPECT_FALSE(shelf.look(digest));
  EXPECT_EQ(shelf.look("shop.bundle").error().message, "shop.bundle is neither an absolute path nor a digest");
}

TEST_F(BundleShelfTest, ReadsThePageForTheTimeWhenItIsPaused) {
  EXPECT_EQ(shelf.take(archive, "r1").value().paused_page, std::nullopt);
  file("in/bundle.yaml", "name: shop\nversion: \"1\"\nrun: [./shop]\npaused: {page: back.txt}\n");
  file("in/back.txt", "back soon\n");
  ASSERT_TRUE(bundle::pack(disk, folder.path("in"), {"back.txt", "bundle.yaml"}, archive));
  EXPECT_EQ(shelf.take(archive, "r2").value().paused_page, "back soon\n");
  ASSERT_TRUE(bundle::pack(disk, folder.path("in"), {"bundle.yaml"}, archive));
  EXPECT_EQ(to_string(shelf.take(archive, "r3").error()),
            archive + "!bundle.yaml:4:10: /paused/page: the page back.txt is not in the bundle");
  EXPECT_EQ(shelf.revisions().value(), (std::vector<std::string>{"r1", "r2"}));
}

TEST_F(BundleShelfTest, ACopyThatWasChangedIsNotWhatWasStaged) {
  auto taken = shelf.take(archive, "r1");
  ASSERT_TRUE(taken);
  EXPECT_TRUE(shelf.check(taken->path, taken->archive));
  file("shelf/r1/archive.bundle", "something else");
  auto changed = shelf.check(taken->path, taken->archive).error();
  EXPECT_EQ(changed.code, Code::verification_failed);
  EXPECT_TRUE(changed.message.ends_with(", not the archive that was staged")) << changed.message;
  EXPECT_EQ(shelf.check(folder.path("none"), taken->archive).error().code, Code::not_found);
}

TEST_F(BundleShelfTest, WhatIsNoBundleLeavesNothing) {
  file("bad.bundle", "not an archive");
  EXPECT_EQ(to_string(shelf.take(folder.path("bad.bundle"), "r1").error()),
            folder.path("bad.bundle") + ": it is no bundle, tar, tar.gz, tar.zst or zip");
  EXPECT_EQ(shelf.take(folder.path("none"), "r1").error().code, Code::not_found);
  EXPECT_TRUE(shelf.revisions().value().empty());
}

TEST_F(BundleShelfTest, ARevocationListIsReadStrictly) {
  file("list.json", R"({"schema":"other","revoked":[]})");
  EXPECT_EQ(revoked_by(disk, folder.path("list.json"), "a", "t").error().code, Code::invalid);
  file("list.json", R"({"schema":"sluice.revocation-list.v1","revoked":[{"digest":"t","reason":"why"}]})");
  EXPECT_EQ(revoked_by(disk, folder.path("list.json"), "a", "t").value(), "why");
  EXPECT_EQ(revoked_by(disk, folder.path("list.json"), "a", "b").value(), std::nullopt);
}

TEST_F(BundleShelfTest, FirstWeek08WhatIsArchivedCanBeTakenAgainByItsDigest) {
  file("shop.bundle.sig.json", "signed");
  const std::string digest = shelf.take(archive, "r1").value().archive;
  ASSERT_TRUE(disk.remove(archive));
  ASSERT_TRUE(shelf.give_back("r1"));
  EXPECT_TRUE(shelf.revisions().value().empty());
  EXPECT_TRUE(shelf.give_back("r1")) << "a repeat is harmless";
  auto again = shelf.take(digest, "r2");
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->archive, digest);
  EXPECT_EQ(again->sidecar, "signed");
  ASSERT_TRUE(shelf.give_back("r2"));
  EXPECT_EQ(shelf.old_uploads(std::chrono::hours(-1)).value(), std::vector<std::string>{digest});
  ASSERT_TRUE(shelf.drop(digest));
  EXPECT_EQ(shelf.take(digest, "r3").error().code, Code::not_found);
  EXPECT_TRUE(shelf.old_uploads(std::chrono::hours(-1)).value().empty());
}

}  // namespace bundle_shelf_test
}  // namespace sluice::deploy
