// Manifests and indexes: written, read again, and refused.
#include "oci/manifest.h"

#include <gtest/gtest.h>

namespace sluice::oci {
namespace manifest_test {

TEST(Manifest, IsReadAsItIsWritten) {
  Manifest manifest{.media_type = std::string(kManifestType),
                    .artifact_type = "application/vnd.sluice.bundle.v1",
                    .config = describe("{}", kEmptyType),
                    .layers = {describe("layer", "text/plain")},
                    .subject = describe("subject", kManifestType),
                    .annotations = {{"a", "b"}}};
  const std::string text = write_manifest(manifest);
  auto read = parse_manifest(text);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->artifact_type, manifest.artifact_type);
  EXPECT_EQ(read->layers, manifest.layers);
  EXPECT_EQ(read->subject, manifest.subject);
  EXPECT_EQ(write_manifest(*read), text);
  EXPECT_EQ(read->config.digest, "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
}

TEST(Manifest, AnOlderOneSaysItsTypeInItsConfig) {
  Manifest manifest{.media_type = std::string(kManifestType), .config = describe("{}", "application/x")};
  EXPECT_EQ(parse_manifest(write_manifest(manifest))->artifact_type, "application/x");
}

TEST(Index, NamesOneManifestForEachPlatform) {
  Descriptor arm = describe("arm", kManifestType);
  arm.platform = Platform{"linux", "arm", "v7"};
  auto index = parse_index(write_index({std::string(kIndexType), {arm}}));
  ASSERT_TRUE(index) << to_string(index.error());
  EXPECT_EQ(index->manifests, std::vector{arm});
  EXPECT_EQ(to_string(*index->manifests[0].platform), "linux/arm/v7");
  EXPECT_TRUE(is_index(kIndexType));
  EXPECT_FALSE(is_index(kManifestType));
}

TEST(Manifest, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "[]", "{}", R"({"schemaVersion":1})", R"({"schemaVersion":2})", R"({"schemaVersion":2,"config":{}})",
        R"({"schemaVersion":2,"config":{"digest":"md5:12","size":1},"layers":[]})"}) {
    auto read = parse_manifest(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::invalid);
    EXPECT_FALSE(parse_index(text)) << text;
  }
  const std::string digest = "sha256:" + std::string(64, '0');
  EXPECT_EQ(parse_manifest(R"({"schemaVersion":2,"config":{"digest":")" + digest + R"(","size":-1},"layers":[]})")
                .error()
                .message,
            "the manifest has no size in its config");
  EXPECT_EQ(parse_manifest(std::string(kMaxManifestBytes + 1, ' ')).error().code, Code::limit);
}

}  // namespace manifest_test
}  // namespace sluice::oci
