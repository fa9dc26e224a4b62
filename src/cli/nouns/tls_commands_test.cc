// sluice tls in a home of its own, as far as no router runs; those are in tests/up/test_up_tls.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace tls_commands_test {

using ::testing::HasSubstr;

TEST(TlsCommands, ACertificateIsIssuedRenewedAndRemoved) {
  ObjectsHome home;
  EXPECT_THAT(home.run({"tls", "list"}).out, HasSubstr("There are no certificates."));
  EXPECT_THAT(home.run({"tls", "trust"}).err, HasSubstr("this home has no authority yet"));
  const Ran issued = home.run({"tls", "issue", "shop.test", "*.shop.test"});
  EXPECT_EQ(issued.exit, 0) << issued.err;
  EXPECT_THAT(issued.out, HasSubstr("issued  shop.test for shop.test, *.shop.test, until "));
  EXPECT_EQ(home.data({"tls", "renew", "shop.test"}).at("certificate"), json::value("shop.test"));
  EXPECT_THAT(home.run({"tls", "list"}).out, HasSubstr("local-ca"));
  EXPECT_THAT(home.run({"tls", "doctor"}).out, HasSubstr("good  1 certificate\n"));
  EXPECT_THAT(home.run({"tls", "trust"}).out, HasSubstr("CN=Sluice local CA of "));
  EXPECT_EQ(home.run({"tls", "remove", "shop.test", "--yes"}).exit, 0);
  EXPECT_EQ(home.run({"tls", "renew", "shop.test"}).exit, 5);
}

TEST(TlsCommands, WhatDoesNotGoTogetherIsRefused) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"tls", "trust", "--install", "--remove"}).exit, 2);
  EXPECT_EQ(home.run({"tls", "issue", "a.test", "--account-id", "k"}).exit, 2);
  EXPECT_EQ(home.run({"tls", "issue", "shop.com"}).exit, 1);
  EXPECT_THAT(home.run({"tls", "issue", "shop.com", "--provider", "acme"}).err,
              HasSubstr("name the authority's directory"));
  EXPECT_EQ(home.run({"tls", "add", "x", "--chain", "none.pem", "--key", "none.pem"}).exit, 5);
}

}  // namespace tls_commands_test
}  // namespace sluice::cli
