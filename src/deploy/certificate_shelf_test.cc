// Pairs are replaced whole and put back, proofs are files, and names are what they must be.
#include "deploy/certificate_shelf.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::deploy {
namespace certificate_shelf_test {

class CertificateShelfTest : public testing::Test {
 protected:
  CertificateShelf::Kept keep(const std::string& name) {
    auto made = crypto::make_certificate({.names = {name}, .until_ms = now_ms + 86'400'000}, nullptr, now_ms);
    return shelf.keep("shop", made->chain_pem, made->key_pem.reveal(), now_ms).value();
  }

  TestingFolder folder;
  RealDisk disk;
  int64_t now_ms = RealClock().wall_ms();
  CertificateShelf shelf{disk, folder.path()};
};

TEST_F(CertificateShelfTest, PutsBackWhatWasThereBefore) {
  const auto first = keep("a.example");
  shelf.settle(first);
  const auto second = keep("b.example");
  EXPECT_EQ(shelf.look("shop")->names, std::vector<std::string>{"b.example"});
  ASSERT_TRUE(shelf.restore(second));
  EXPECT_EQ(shelf.look("shop")->names, std::vector<std::string>{"a.example"});
  EXPECT_EQ(disk.list(folder.path("tls/.kept"))->size(), 1U);
  (void)keep("c.example");  // as if a crash had come before it was settled
  shelf.settle(keep("d.example"));
  EXPECT_EQ(disk.list(folder.path("tls/.kept"))->size(), 1U);
  ASSERT_TRUE(shelf.remove("shop"));
  EXPECT_EQ(shelf.look("shop").error().code, Code::not_found);
}

TEST_F(CertificateShelfTest, HasOneAuthority) {
  auto first = shelf.authority("here", now_ms), second = shelf.authority("there", now_ms);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->chain_pem, second->chain_pem);
  EXPECT_EQ(crypto::read_certificates(first->chain_pem)->front().subject, "CN=Sluice local CA of here");
}

TEST_F(CertificateShelfTest, AProofWithoutARouterIsNone) {
  const CertificateShelf::Proof proof{.kind = "http-01", .name = "a", .token = "t", .key_authorization = "t.k"};
  EXPECT_EQ(shelf.show_proofs({proof}, {}).error().message,
            "no router of this home runs that could answer the authority");
  EXPECT_TRUE(disk.exists(folder.path("tls/.challenges/t.json")).value());
  shelf.hide_proofs({proof}, {});
  EXPECT_FALSE(disk.exists(folder.path("tls/.challenges/t.json")).value());
}

TEST(CertificateNames, AreToldApart) {
  for (const char* each :
       {"localhost", "a.localhost", "test", "*.shop.test", "a.b.example", "127.0.0.1", "127.8.8.8", "::1"}) {
    EXPECT_TRUE(is_local_name(each)) << each;
  }
  for (const char* each : {"", "localhost.com", "mytest", "10.0.0.1", "127.example.com", "::2"}) {
    EXPECT_FALSE(is_local_name(each)) << each;
  }
  for (const char* each : {"a", "*.a.b", "a-b.c1", "::1", "10.0.0.1"}) EXPECT_TRUE(is_certificate_name(each)) << each;
  for (const char* each : {"", "*", "*.", ".a", "a.", "a..b", "A", "a b", "a,b"}) {
    EXPECT_FALSE(is_certificate_name(each)) << each;
  }
  EXPECT_TRUE(is_certificate_id("shop_a-1.example"));
  for (const char* each : {"", ".a", "a/b", "a b"}) EXPECT_FALSE(is_certificate_id(each)) << each;
}

}  // namespace certificate_shelf_test
}  // namespace sluice::deploy
