// Archives with their sidecars, as they lie on a disk.
#include "bundle/trust/verify_archive.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "bundle/archive/inspect.h"
#include "bundle/archive/testing_archives.h"
#include "bundle/trust/sidecar.h"
#include "bundle/trust/verify.h"

namespace sluice::bundle {
namespace verify_archive_test {

class VerifyArchiveTest : public ::testing::Test {
 protected:
  VerifyArchiveTest() {
    put(squash_of({{"bundle.yaml", "name: shop\nversion: \"1\"\nrun: [./app]\n"}, {"app", "x"}}));
    root.keys.push_back({.key = key.public_key(), .label = "ann", .environments = {"local"}, .bundles = {"shop"}});
  }

  void put(const std::string& bytes) { EXPECT_TRUE(write_atomically(disk, "/shop.bundle", bytes, 0644)); }
  void sign() {
    auto inspected = inspect_archive(disk, "/shop.bundle");
    Statement statement{.bundle = "shop", .version = "1"};
    statement.archive = *crypto::parse_sha256("sha256:" + *sha256_of_file(disk, "/shop.bundle"));
    if (inspected) statement.tree = *crypto::parse_sha256("sha256:" + inspected->tree.digest());
    ASSERT_TRUE(write_sidecar(disk, sidecar_path("/shop.bundle"), *sign_statement(statement, {&key, 1})));
  }
  std::string verdict(const std::string& environment = "local") {
    auto judged = verify_archive(disk, "/shop.bundle", root, environment, 0);
    if (!judged) return judged.error().message;
    const auto* refused = std::get_if<Refusal>(&*judged);
    return refused == nullptr ? "verified" : std::string(name_of(refused->clause)) + ": " + refused->message;
  }

  VolatileDisk disk;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  TrustRoot root;
};

TEST_F(VerifyArchiveTest, TheGoodOnePasses) {
  sign();
  EXPECT_EQ(verdict(), "verified");
  EXPECT_EQ(verdict("prod").substr(0, 17), "key out of scope:");
}

TEST_F(VerifyArchiveTest, DamageIsAChangedPayload) {
  sign();
  put("damaged");
  EXPECT_EQ(verdict(), "payload changed: the archive is " + crypto::to_string(crypto::sha256("damaged")) + ", but " +
                           verdict().substr(verdict().find("but ") + 4));
  root.keys.clear();
  EXPECT_EQ(verdict().substr(0, 12), "unknown key:");
}

TEST_F(VerifyArchiveTest, WhatIsNoBundleIsRefusedEvenIfItIsSigned) {
  put(tar_of({{.name = "a", .content = "x"}}));
  sign();
  EXPECT_EQ(verdict(),
            "payload changed: what was signed is no bundle: /shop.bundle has no bundle.yaml: it is no bundle");
}

TEST_F(VerifyArchiveTest, WithoutASidecarNobodyVouches) {
  EXPECT_EQ(verdict(), "sidecar missing: bundle shop has no sidecar, so nobody vouches for it");
  put("damaged");
  EXPECT_EQ(verdict(), "sidecar missing: bundle shop.bundle has no sidecar, so nobody vouches for it");
}

TEST_F(VerifyArchiveTest, AMissingFileIsNoVerdict) {
  ASSERT_TRUE(disk.remove("/shop.bundle"));
  EXPECT_EQ(verify_archive(disk, "/shop.bundle", root, "local", 0).error().code, Code::not_found);
}

}  // namespace verify_archive_test
}  // namespace sluice::bundle
