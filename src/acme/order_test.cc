// Orders, by a script in the authority's place.
#include "acme/order.h"

#include <gtest/gtest.h>

#include "acme/testing_authority.h"
#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::acme {
namespace order_test {

// An account that the authority forgot took its orders along.
TEST(AcmeOrder, BeginsAnewWhereTheKeptOrderIsAnotherAccounts) {
  ScriptedAuthority script;
  script.answers["/directory"] = {ScriptedAuthority::answer(200, kDirectory)};
  script.answers["/nonce"] = {ScriptedAuthority::answer(200, "")};
  script.answers["/account"] = {ScriptedAuthority::answer(201, "{}", "https://ca.example/account-1")};
  script.answers["/order"] = {ScriptedAuthority::answer(201, R"({"status":"pending"})", "https://ca.example/order-1"),
                              ScriptedAuthority::answer(201, R"({"status":"pending"})", "https://ca.example/order-2")};
  script.answers["/order-1"] = {
      ScriptedAuthority::answer(400, R"({"type":"urn:ietf:params:acme:error:accountDoesNotExist"})"),
      ScriptedAuthority::answer(403, R"({"type":"urn:ietf:params:acme:error:unauthorized"})")};
  const Send send = [&](const http::OutgoingRequest& request) { return script(request); };
  TestingFolder folder;
  RealDisk disk;
  ManualClock clock;
  const Wish wish{.directory = "https://ca.example/directory", .names = {"shop.example"}};
  const Place place{.disk = disk, .clock = clock, .folder = folder.path("acme"), .id = "shop"};
  for (const char* expected : {"/order", "/order"}) {
    Authority authority(wish, place, send);
    ASSERT_TRUE(authority.open() && authority.log_in());
    auto done = fulfil_order(wish, place, authority, {});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "the authority's order has no authorizations");
    EXPECT_EQ(script.asked.back().path, expected);
  }
  EXPECT_EQ(std::ranges::count(script.asked, "/order-1", &ScriptedAuthority::Asked::path), 2);
  EXPECT_EQ(std::ranges::count(script.asked, "/account", &ScriptedAuthority::Asked::path), 2);
  EXPECT_NE(read_file(disk, place.folder + "/orders/shop/order.json", 1000)->find("order-2"), std::string::npos);
}

}  // namespace order_test
}  // namespace sluice::acme
