// Who gets a certificate, for how long, and who is believed with one.
#include "host/link/joined_routers.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::host {
namespace joined_routers_test {

constexpr int64_t kNow_ms = 1'900'000'000'000;
constexpr int64_t kHour_ms = 3'600'000, kDay_ms = 24 * kHour_ms;

struct Joined : testing::Test {
  JoinedRouters::Ask ask(const std::string& name, const std::string& router) {
    return {.name = name, .router = router, .environment = "prod", .machine = "mill", .request = request.der};
  }
  static std::string refusal(const Error& error) { return error.message; }

  RealDisk disk;
  TestingFolder folder;
  Home home{disk, folder.path("h")};
  JoinedRouters routers{disk, home};
  crypto::SigningRequest request = crypto::make_signing_request({"router"}, "").value();
  const std::string one = "01J00000000000000000000001", two = "01J00000000000000000000002";
};

TEST_F(Joined, OneThatJoinsIsKnownByItsCertificateForADay) {
  EXPECT_EQ(routers.authority().value(), "");
  auto chain = routers.join(ask("edge", one), kNow_ms);
  ASSERT_TRUE(chain) << chain.error().message;
  const auto facts = crypto::read_certificates(*chain)->front();
  EXPECT_EQ(facts.uris, (std::vector<std::string>{"spiffe://sluice/router/edge"}));
  EXPECT_EQ(facts.until_ms, kNow_ms + kDay_ms);
  auto known = routers.known_by(*chain, "edge", kNow_ms);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->router, one);
  EXPECT_EQ(known->environment, "prod");
  EXPECT_FALSE(routers.known_by(*chain, "edge", kNow_ms + kDay_ms + 1'000));
  // Another control plane of this home's keys knows it as well.
  EXPECT_TRUE(JoinedRouters(disk, home).known_by(*chain, "edge", kNow_ms));
}

TEST_F(Joined, TheCertificateOfOneIsNotBelievedForAnother) {
  auto chain = routers.join(ask("edge", one), kNow_ms);
  JoinedRouters::Ask second = ask("core", two);
  second.request = crypto::make_signing_request({"router"}, "")->der;
  ASSERT_TRUE(routers.join(second, kNow_ms));
  EXPECT_EQ(routers.known_by(*chain, "core", kNow_ms).error().message,
            "this certificate is of the router edge, and not of core");
}

TEST_F(Joined, ANameAndAnIdAreGivenOnce) {
  ASSERT_TRUE(routers.join(ask("edge", one), kNow_ms));
  for (const auto& again : {ask("edge", two), ask("other", one)}) {
    auto refused = routers.join(again, kNow_ms);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
  }
  for (const char* name : {"main", "", "a/b", "..", "an name"}) {
    EXPECT_EQ(routers.join(ask(name, two), kNow_ms).error().message,
              "'" + std::string(name) + "' is no name for a router on another machine");
  }
  EXPECT_EQ(routers.join(ask("other", "no ulid"), kNow_ms).error().message, "the router's id is no ULID");
}

TEST_F(Joined, ACertificateIsRenewedByItsKeyUntilThirtyDaysAfterItsEnd) {
  auto chain = routers.join(ask("edge", one), kNow_ms);
  auto soon = routers.renew(*chain, request.der, kNow_ms + 8 * kHour_ms);
  ASSERT_TRUE(soon) << soon.error().message;
  EXPECT_EQ(crypto::read_certificates(*soon)->front().until_ms, kNow_ms + 8 * kHour_ms + kDay_ms);
  EXPECT_EQ(routers.list()->front().until_ms, kNow_ms + 8 * kHour_ms + kDay_ms);
  auto late = routers.renew(*chain, request.der, kNow_ms + 31 * kDay_ms);
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_TRUE(routers.known_by(*late, "edge", kNow_ms + 31 * kDay_ms));
  auto too_late = routers.renew(*chain, request.der, kNow_ms + 31 * kDay_ms + 1'000);
  ASSERT_FALSE(too_late);
  EXPECT_EQ(too_late.error().message, "this certificate ended at 2030-03-18T17:46:40.000Z, more than 30 days ago");
  auto other = crypto::make_signing_request({"router"}, "");
  EXPECT_EQ(routers.renew(*chain, other->der, kNow_ms).error().message,
            "the request is signed with another key than the certificate of the router edge");
}

TEST_F(Joined, OneThatWasRemovedIsNobodyAnyMore) {
  auto chain = routers.join(ask("edge", one), kNow_ms);
  EXPECT_EQ(routers.remove("edge")->machine, "mill");
  EXPECT_EQ(routers.known_by(*chain, "edge", kNow_ms).error().message,
            "the router with this certificate was removed here");
  EXPECT_EQ(routers.renew(*chain, request.der, kNow_ms).error().message,
            "the router with this certificate was removed here");
  EXPECT_EQ(routers.remove("edge").error().code, Code::not_found);
}

TEST_F(Joined, ACertificateOfAnotherAuthorityIsNotBelieved) {
  ASSERT_TRUE(routers.join(ask("edge", one), kNow_ms));
  TestingFolder elsewhere;
  Home other(disk, elsewhere.path("h"));
  auto foreign = JoinedRouters(disk, other).join(ask("edge", one), kNow_ms);
  EXPECT_EQ(routers.known_by(*foreign, "edge", kNow_ms).error().message,
            "this certificate is not signed by the authority for this control plane's routers");
  EXPECT_FALSE(routers.renew(*foreign, request.der, kNow_ms));
}

}  // namespace joined_routers_test
}  // namespace sluice::host
