// A registry for tests with a signed bundle in it, as `push_bundle` puts it there.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/archive/pack.h"
#include "bundle/trust/sidecar.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "deploy/registry_bundles.h"
#include "oci/testing_registry.h"

namespace sluice::deploy {

struct RegistryBundle {
  RegistryBundle() {
    EXPECT_TRUE(disk.make_folder(folder.path("in"), 0755));
    EXPECT_TRUE(
        write_atomically(disk, folder.path("in/bundle.yaml"), "name: shop\nversion: \"1\"\nrun: [./shop]\n", 0644));
    path = folder.path("shop.bundle");
    auto packed = bundle::pack(disk, folder.path("in"), {"bundle.yaml"}, path);
    EXPECT_TRUE(packed);
    statement.tree = *crypto::parse_sha256("sha256:" + packed->tree_digest);
    statement.archive = *crypto::parse_sha256("sha256:" + packed->archive_sha256);
    archive = there.add(*read_file(disk, path, 1 << 20), kArchiveLayer);
    first = *bundle::sign_statement(statement, {&key, 1});
    put(first);
  }
  // The bundle with this sidecar, tagged 1.
  void put(const crypto::Envelope& sidecar) {
    const oci::Descriptor papers = there.add(bundle::write_sidecar_text(sidecar), kSidecarLayer);
    manifest = {.media_type = std::string(oci::kManifestType),
                .artifact_type = std::string(kBundleType),
                .config = oci::describe("{}", oci::kEmptyType),
                .layers = {archive, papers}};
    digest = there.add_manifest("1", manifest);
  }
  // Signatures that came later, of another key.
  void add_signatures() {
    const crypto::PrivateKey other = crypto::PrivateKey::generate();
    const crypto::Envelope more = *bundle::sign_statement(statement, {&other, 1});
    oci::Manifest referrer = manifest;
    referrer.artifact_type = kSignaturesType;
    referrer.layers = {there.add(bundle::write_sidecar_text(more), kSidecarLayer)};
    referrer.subject = oci::describe(write_manifest(manifest), oci::kManifestType);
    oci::Descriptor own = oci::describe(write_manifest(referrer), oci::kManifestType);
    own.artifact_type = referrer.artifact_type;
    there.add_manifest("signatures", referrer);
    there.add_bytes("manifests/sha256-" + digest.substr(7), oci::write_index({std::string(oci::kIndexType), {own}}));
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  oci::TestingRegistry there;
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  bundle::Statement statement{.bundle = "shop", .version = "1"};
  std::string path;
  oci::Descriptor archive;
  crypto::Envelope first;
  oci::Manifest manifest;
  std::string digest;
  BundleShelf shelf{disk, folder.path("blobs/bundles")};
  BundleRegistry registry{clock, [](const std::string&) { return std::optional<std::string>(); }, shelf};
};

}  // namespace sluice::deploy
