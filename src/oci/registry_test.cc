// Pulling from a registry that is well, ill, or lies. Pushing is tested against a real one in tests/oci.
#include "oci/registry.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "oci/testing_registry.h"

namespace sluice::oci {
namespace registry_test {

class RegistryTest : public testing::Test {
 protected:
  Registry visit(std::optional<Login> login = {}) { return {outgoing, there.reference("1"), std::move(login)}; }
  Error refused(const Result<std::string>& result) {
    EXPECT_FALSE(result);
    return result ? Error{} : result.error();
  }

  RealClock clock;
  http::Outgoing outgoing{{}, clock};
  TestingRegistry there;
};

TEST_F(RegistryTest, WhatIsPulledIsVerified) {
  const Descriptor layer = there.add("hello", "text/plain");
  EXPECT_EQ(*visit().pull_blob(layer, 100), "hello");
  there.add_bytes("blobs/" + layer.digest, "hullo");
  EXPECT_EQ(refused(visit().pull_blob(layer, 100)).code, Code::verification_failed);
  there.add_bytes("blobs/" + layer.digest, "hello, and more");
  EXPECT_EQ(refused(visit().pull_blob(layer, 100)).code, Code::verification_failed);
  there.add_bytes("blobs/" + layer.digest, "hell");
  EXPECT_EQ(refused(visit().pull_blob(layer, 100)).code, Code::verification_failed);
  EXPECT_EQ(refused(visit().pull_blob(layer, 4)).code, Code::limit);
}

TEST_F(RegistryTest, ADownloadGoesOnWhereItWasCut) {
  const std::string bytes(100'000, 'x');
  const Descriptor layer = there.add(bytes, "text/plain");
  there.cuts = true;
  TestingFolder folder;
  RealDisk disk;
  auto file = disk.open(folder.path("layer"), {.write = true, .create = true});
  ASSERT_TRUE(visit().pull_blob(layer, **file));
  EXPECT_EQ(*(*file)->size(), bytes.size());
  EXPECT_EQ(there.asked_for_rest, 1);
}

TEST_F(RegistryTest, AShortIllnessIsWaitedOut) {
  const Descriptor layer = there.add("hello", "text/plain");
  there.ill = 4;
  EXPECT_EQ(*visit().pull_blob(layer, 100), "hello");
  there.ill = 1000;
  EXPECT_EQ(refused(visit().pull_blob(layer, 100)).code, Code::unavailable);
}

TEST_F(RegistryTest, ManifestsAreVerifiedByTheirDigest) {
  const std::string digest =
      there.add_manifest("1", {.media_type = std::string(kManifestType), .config = describe("{}", kEmptyType)});
  EXPECT_EQ(visit().manifest("1")->digest, digest);
  EXPECT_EQ(visit().manifest(digest)->digest, digest);
  there.add_bytes("manifests/" + digest, "{}");
  EXPECT_EQ(visit().manifest(digest).error().code, Code::verification_failed);
  EXPECT_EQ(visit().manifest("2").error().message, there.host() + " has no team/shop:2 (UNKNOWN: not here)");
  there.add_bytes("manifests/large", std::string(kMaxManifestBytes + 1, ' '));
  EXPECT_EQ(visit().manifest("large").error().code, Code::limit);
}

TEST_F(RegistryTest, ALoginIsShownToWhoMaySeeIt) {
  there.login = "ci:hunter2";
  EXPECT_EQ(visit().check().error().code, Code::unauthenticated);
  EXPECT_TRUE(visit(Login{"ci", "hunter2"}).check());
  EXPECT_EQ(visit(Login{"ci", "wrong"}).check().error().message, there.host() + " does not take the login for its API");
  there.realm = "http://" + there.host() + "/token";
  EXPECT_TRUE(visit(Login{"ci", "hunter2"}).check());
  EXPECT_EQ(there.told, "Bearer a-token");
  there.realm = "https://auth.other.example/token";
  const auto denied = visit(Login{"ci", "hunter2"}).check();
  EXPECT_EQ(denied.error().code, Code::denied);
  EXPECT_EQ(denied.error().message,
            there.host() + " wants its password sent to auth.other.example, which is another party's; it was not sent");
  there.realm = "http://auth.other.example/token";
  EXPECT_EQ(visit().check().error().code, Code::denied);
}

TEST_F(RegistryTest, ARedirectIsFollowedWithoutTheLogin) {
  TestingRegistry store;
  const Descriptor layer = store.add("hello", "text/plain");
  there.login = "ci:hunter2";
  there.moved_to = store.host();
  EXPECT_EQ(*visit(Login{"ci", "hunter2"}).pull_blob(layer, 100), "hello");
  EXPECT_EQ(store.told, "");
  store.moved_to = store.host();
  EXPECT_EQ(refused(visit(Login{"ci", "hunter2"}).pull_blob(layer, 100)).code, Code::unavailable);
}

TEST_F(RegistryTest, ReferrersAreFoundByTheirTag) {
  const std::string digest = "sha256:" + std::string(64, '1');
  EXPECT_TRUE(visit().referrers(digest)->empty());
  const Descriptor one = describe("one", kManifestType);
  there.add_bytes("manifests/sha256-" + std::string(64, '1'), write_index({std::string(kIndexType), {one}}));
  EXPECT_EQ(*visit().referrers(digest), std::vector{one});
}

}  // namespace registry_test
}  // namespace sluice::oci
