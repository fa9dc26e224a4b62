// Certificates arrive with their keys, in their order, and only from whom the router trusts.
#include "host/link/carried_files.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "crypto/x509.h"
#include "deploy/certificate_shelf.h"

namespace sluice::host {
namespace carried_files_test {

constexpr int64_t kNow_ms = 1'900'000'000'000;

struct Carried : testing::Test {
  void SetUp() override {
    ASSERT_TRUE(here.folder("tls"));
    ASSERT_TRUE(there.folder("router"));
  }
  void show(const std::string& id) {
    auto made = crypto::make_certificate({.names = {id}, .until_ms = kNow_ms + 86'400'000}, nullptr, kNow_ms);
    deploy::CertificateShelf shelf(disk, here.root().string());
    ASSERT_TRUE(shelf.keep(id, made->chain_pem, made->key_pem.reveal(), kNow_ms));
  }
  std::string packed(const FilesVersion& version, const crypto::PrivateKey& key) {
    return sign_files(read_files(disk, here).value(), version, key).value();
  }
  Result<KeptFiles> keep(const std::string& text) { return keep_files(disk, there, text, trusted, kNow_ms); }
  std::string text_there(const std::string& path) {
    auto text = read_file(disk, (there.root() / "tls" / path).string(), 1 << 20);
    return text ? *text : "none";
  }

  RealDisk disk;
  TestingFolder folder;
  Home here{disk, folder.path("here")}, there{disk, folder.path("there")};
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  std::vector<crypto::PublicKey> trusted = {key.public_key()};
};

TEST_F(Carried, CertificatesAndChallengesArriveAndGo) {
  show("shop.example");
  const std::string challenges = (here.root() / "tls/.challenges").string();
  ASSERT_TRUE(disk.make_folder(challenges, 0700));
  ASSERT_TRUE(write_atomically(disk, challenges + "/t1.json", "{}", 0600));
  auto kept = keep(packed({.version = 1}, key));
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->folder, (here.root() / "tls").string());
  for (const char* each : {"shop.example/chain.pem", "shop.example/key.pem", ".challenges/t1.json"}) {
    EXPECT_EQ(text_there(each), read_file(disk, (here.root() / "tls" / each).string(), 1 << 20).value()) << each;
  }
  deploy::CertificateShelf shelf(disk, here.root().string());
  ASSERT_TRUE(shelf.remove("shop.example"));
  ASSERT_TRUE(disk.remove(challenges + "/t1.json"));
  ASSERT_TRUE(keep(packed({.version = 2}, key)));
  EXPECT_EQ(text_there("shop.example/chain.pem"), "none");
  EXPECT_EQ(text_there(".challenges/t1.json"), "none");
}

TEST_F(Carried, OlderOnesAndThoseOfAnOlderLeaseAreRefused) {
  ASSERT_TRUE(keep(packed({.token = 3, .version = 10}, key)));
  for (const FilesVersion& older : {FilesVersion{.token = 3, .version = 9}, FilesVersion{.token = 2, .version = 99}}) {
    EXPECT_EQ(keep(packed(older, key)).error().message, "these certificates are older than those that this router has");
  }
  EXPECT_TRUE(keep(packed({.token = 3, .version = 10}, key)));
  EXPECT_TRUE(keep(packed({.token = 4, .version = 1}, key)));
  EXPECT_EQ(files_taken(disk, there), (FilesVersion{.token = 4, .version = 1}));
}

TEST_F(Carried, ThoseOfAnotherSignerAndThoseThatWereChangedAreRefused) {
  show("shop.example");
  EXPECT_EQ(keep(packed({.version = 1}, crypto::PrivateKey::generate())).error().message,
            "the certificates are not signed by a key that this router trusts");
  std::string changed = packed({.version = 1}, key);
  changed.replace(changed.find("shop.example"), 4, "shoq");
  EXPECT_EQ(keep(changed).error().message, "the certificates are not those that were signed");
  EXPECT_EQ(text_there("shop.example/chain.pem"), "none");
}

TEST_F(Carried, OneThatHasEndedIsLeftOutAlone) {
  show("shop.example");
  show("old.example");
  const std::string text = packed({.version = 1}, key);
  auto kept = keep_files(disk, there, text, trusted, kNow_ms + 2 * 86'400'000);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->left_out.size(), 2U);
  EXPECT_EQ(kept->left_out.front(), "old.example: the certificate has expired on 2030-03-18T17:46:40.000Z");
}

}  // namespace carried_files_test
}  // namespace sluice::host
