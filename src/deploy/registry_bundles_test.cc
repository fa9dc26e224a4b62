// Bundles as they lie in a registry. Pushing is tested against a real one in tests/oci.
#include "deploy/registry_bundles.h"

#include "deploy/testing_registry_bundle.h"

namespace sluice::deploy {
namespace registry_bundles_test {

class RegistryBundlesTest : public testing::Test {
 protected:
  Result<BundleRegistry::Kept> fetch(const std::string& tag = "1") {
    return made.registry.fetch(made.there.reference(tag), {}, "test", [] { return false; });
  }
  Code refused(const std::string& tag = "1") {
    auto kept = fetch(tag);
    EXPECT_FALSE(kept);
    return kept ? Code::ok : kept.error().code;
  }
  RegistryBundle made;
};

TEST_F(RegistryBundlesTest, APulledBundleIsTakenLikeOneThatWasPut) {
  auto kept = fetch();
  ASSERT_TRUE(kept) << to_string(kept.error());
  EXPECT_EQ(kept->digest, made.digest);
  EXPECT_EQ(kept->seen.manifest.name.text, "shop");
  EXPECT_TRUE(kept->source.starts_with(made.archive.digest + ",sha256:"));
  auto taken = made.shelf.take(kept->source, "r1");
  ASSERT_TRUE(taken) << to_string(taken.error());
  EXPECT_EQ(taken->sidecar, bundle::write_sidecar_text(made.first));
}

TEST_F(RegistryBundlesTest, SignaturesThatCameLaterAreUnited) {
  made.add_signatures();
  auto taken = made.shelf.take(fetch().value().source, "r1");
  ASSERT_TRUE(taken);
  EXPECT_EQ(bundle::parse_sidecar(taken->sidecar).value().signatures.size(), 2U);
}

TEST_F(RegistryBundlesTest, WhatIsNoBundleIsRefused) {
  EXPECT_EQ(refused("2"), Code::not_found);
  made.manifest.artifact_type = "application/vnd.oci.image.config.v1+json";
  made.there.add_manifest("1", made.manifest);
  EXPECT_EQ(refused(), Code::invalid);
  made.there.add_bytes("manifests/1", "nonsense");
  EXPECT_EQ(refused(), Code::invalid);
  made.put(made.first);
  made.there.add_bytes("blobs/" + made.archive.digest, "other bytes");
  EXPECT_EQ(refused(), Code::verification_failed);
  EXPECT_TRUE(made.disk.list(made.folder.path("blobs/uploads")).value().empty()) << "nothing of it is left";
}

TEST_F(RegistryBundlesTest, AnArchiveWithoutASidecarIsNotPushed) {
  http::Outgoing outgoing({}, made.clock);
  oci::Registry registry(outgoing, made.there.reference("2"), {});
  auto pushed = push_bundle(made.disk, registry, made.path);
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().message, made.path + " has no signatures beside it; nothing was pushed");
}

TEST(LoginSecret, HasANameThatSecretsMayHave) {
  EXPECT_EQ(login_secret_of("registry.example:5000"), "registry/registry.example_5000");
  EXPECT_EQ(login_secret_of("[::1]:5000"), "registry/__1_5000");
}

}  // namespace registry_bundles_test
}  // namespace sluice::deploy
