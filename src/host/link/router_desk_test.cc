// What routers on other machines are answered that are not to be linked.
#include "host/link/router_desk.h"

#include <gtest/gtest.h>

#include "crypto/signing_request.h"
#include "host/link/testing_desk.h"

namespace sluice::host {
namespace router_desk_test {

constexpr const char* kUlid = "01J00000000000000000000001";

struct Desk : testing::Test {
  std::string chain_of(const std::string& name, const std::string& ulid) {
    return JoinedRouters(plane.disk, plane.home)
        .join({.name = name,
               .router = ulid,
               .environment = "prod",
               .request = crypto::make_signing_request({"router"}, "")->der},
              plane.clock.wall_ms())
        .value();
  }
  Error refusal(const std::string& name, const std::string& versions, const std::string& chain) {
    http::Request request{.method = "GET"};
    if (!versions.empty()) request.headers.push_back({std::string(kLinkVersionsHeader), versions});
    return plane.desk->link(name, request, {.tls = true, .certificate = chain}).error();
  }

  TestingDesk plane;
};

TEST_F(Desk, ARouterThatShowsNoCertificateOrAnotherOnesIsRefused) {
  const std::string chain = chain_of("edge", kUlid);
  EXPECT_EQ(refusal("edge", "1-1", "").message, "a router shows its certificate when it links itself");
  EXPECT_EQ(refusal("core", "1-1", chain).message, "this certificate is of the router edge, and not of core");
  EXPECT_EQ(refusal("core", "1-1", chain).code, Code::denied);
  http::Request request{.method = "GET", .headers = {{std::string(kLinkVersionsHeader), "1-1"}}};
  auto linked = plane.desk->link("edge", request, {.tls = true, .certificate = chain});
  ASSERT_TRUE(linked);
  EXPECT_EQ(linked->protocol, "sluice-router");
}

TEST_F(Desk, ARouterOfAnotherAgeIsToldWhichEndToUpgrade) {
  const std::string chain = chain_of("edge", kUlid);
  const Error newer = refusal("edge", "2-4", chain);
  EXPECT_EQ(newer.code, Code::conflict);
  EXPECT_EQ(newer.message, "the router edge speaks version 2-4 of the link, which is newer than this end's, 1-1");
  EXPECT_EQ(refusal("edge", "", chain).message, "the router edge does not say which versions of the link it speaks");
}

TEST_F(Desk, ATokenNamesTheEnvironmentAndExpires) {
  auto made = plane.desk->invite("prod");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->at("environment"), "prod");
  EXPECT_EQ(made->at("url").as_string(), plane.url());
  EXPECT_TRUE(std::string(made->at("token").as_string()).starts_with("slr_"));
  RouterDesk::Ask ask{.token = "slr_other", .name = "edge", .router = kUlid};
  ask.request = "%";
  EXPECT_EQ(plane.desk->join(ask).error().message, "the signing request is not in base64");
  ask.request = "";
  EXPECT_EQ(plane.desk->join(ask).error().message, "this token is not one of this cluster's");
}

}  // namespace router_desk_test
}  // namespace sluice::host
