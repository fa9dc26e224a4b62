// Certificates of the server: from files that change, and from the home's own authority.
#include "host/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "crypto/x509.h"

namespace sluice::host {
namespace certificates_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct CertificatesTest : ::testing::Test {
  crypto::MadeCertificate made(const std::string& name) {
    return crypto::make_certificate({.names = {name}, .until_ms = clock.wall_ms() + 1'000'000}, nullptr,
                                    clock.wall_ms())
        .value();
  }
  void put(const std::string& name, std::string_view text) {
    ASSERT_TRUE(write_atomically(disk, folder.path(name), std::string(text), 0600));
  }
  void put(const crypto::MadeCertificate& one) {
    put("cert.pem", one.chain_pem);
    put("key.pem", one.key_pem.reveal());
  }
  CertificateOrders files() const { return {.cert_file = folder.path("cert.pem"), .key_file = folder.path("key.pem")}; }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  Home home{disk, folder.path("home")};
};

TEST_F(CertificatesTest, FilesAreReadAgainWhenAsked) {
  put(made("a.example"));
  auto shown = Certificates::load(disk, home, clock, files());
  ASSERT_TRUE(shown) << to_string(shown.error());
  auto first = (*shown)->now();
  EXPECT_EQ((*shown)->fingerprint(), "");
  put(made("b.example"));
  EXPECT_EQ((*shown)->look(true), "new connections see the certificate as it is now");
  auto second = (*shown)->now();
  EXPECT_NE(first, second);
  put("key.pem", made("c.example").key_pem.reveal());
  EXPECT_EQ((*shown)->look(true),
            "the certificate was not read again, and the one before stays: the key is not the certificate's");
  EXPECT_EQ((*shown)->now(), second);
}

TEST_F(CertificatesTest, WhatCannotBeShownIsRefused) {
  auto refused = [&](CertificateOrders orders) {
    auto shown = Certificates::load(disk, home, clock, std::move(orders));
    return shown ? std::string("taken") : shown.error().message;
  };
  EXPECT_THAT(refused(files()), HasSubstr("cert.pem"));
  put("cert.pem", "none");
  put("key.pem", "none");
  EXPECT_EQ(refused(files()), "the file of the certificate holds none");
  auto one = made("a.example");
  put(one);
  put("key.pem", "none");
  EXPECT_EQ(refused(files()), "the file of the key holds no private key");
  EXPECT_EQ(refused({.cert_file = "x"}), "--tls-cert and --tls-key belong together");
  CertificateOrders both = files();
  both.own = true;
  EXPECT_EQ(refused(both), "a certificate comes from files or from --tls-own, not from both");
}

TEST_F(CertificatesTest, TheAuthorityOfAHomeStays) {
  CertificateOrders own{.own = true, .names = {"127.0.0.1", "shop.example"}};
  auto first = Certificates::load(disk, home, clock, own);
  ASSERT_TRUE(first) << to_string(first.error());
  EXPECT_THAT((*first)->fingerprint(), StartsWith("sha256:"));
  auto again = Certificates::load(disk, home, clock, own);
  EXPECT_EQ((*again)->fingerprint(), (*first)->fingerprint());
  EXPECT_EQ(disk.stat(folder.path("home/keys/tls-ca.key"), FollowLinks::no)->mode, 0600U);
}

}  // namespace certificates_test
}  // namespace sluice::host
