// What needs no authority; with pebble it is tests/acme.
#include "acme/issue.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::acme {
namespace issue_test {

TEST(AcmeIssue, WantsAnAuthorityThatCanBeBelieved) {
  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  const Place place{.disk = disk, .clock = clock, .folder = folder.path("acme"), .id = "a"};
  auto refused = issue({.directory = "http://acme.example/directory", .names = {"a.example"}}, place, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the directory of an authority is an https:// URL");
  EXPECT_FALSE(issue({.directory = "https://127.0.0.1:1/directory", .names = {"a.example"}}, place, {}));
  EXPECT_EQ(challenge_named("tls-alpn-01"), ChallengeKind::tls_alpn01);
  EXPECT_EQ(challenge_named("dns-01"), std::nullopt);
}

TEST(AcmeIssue, ForgetsOrders) {
  TestingFolder folder;
  RealDisk disk;
  for (const char* each : {"acme", "acme/orders", "acme/orders/a"})
    ASSERT_TRUE(disk.make_folder(folder.path(each), 0700));
  forget_order(disk, folder.path("acme"), "a");
  EXPECT_TRUE(disk.list(folder.path("acme/orders"))->empty());
  forget_order(disk, folder.path("acme"), "a");
}

}  // namespace issue_test
}  // namespace sluice::acme
