// Tags of a registry in memory; a real one is asked in tests/container.
#include "deploy/image_pin.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "oci/manifest.h"
#include "oci/testing_registry.h"

namespace sluice::deploy {
namespace image_pin_test {

class ImagePinTest : public testing::Test {
 protected:
  std::string image(const std::string& tag, const std::string& config) {
    const oci::Manifest manifest{.media_type = std::string(oci::kManifestType),
                                 .config = there_.add(config, "application/vnd.oci.image.config.v1+json")};
    return there_.add_manifest(tag, manifest);
  }
  Result<bundle::ImageLock> pin(const std::string& tag) {
    return pin_image(
        disk_, clock_, [](const std::string&) { return std::nullopt; }, name(tag));
  }
  std::string name(const std::string& tag) const { return there_.host() + "/team/shop:" + tag; }

  RealDisk disk_;
  RealClock clock_;
  oci::TestingRegistry there_;
};

TEST_F(ImagePinTest, ASingleImageIsForThePlatformOfItsConfig) {
  const std::string digest = image("1", R"({"os":"linux","architecture":"arm64","variant":"v8"})");
  auto lock = pin("1");
  ASSERT_TRUE(lock) << to_string(lock.error());
  EXPECT_EQ(*lock,
            (bundle::ImageLock{.reference = name("1"), .digest = digest, .platforms = {{"linux/arm64/v8", digest}}}));
}

TEST_F(ImagePinTest, AnIndexHasOneForEachPlatform) {
  const std::string one = image("one", R"({"os":"linux","architecture":"amd64"})");
  auto descriptor = [&](const std::string& os, const std::string& architecture) {
    return oci::Descriptor{.media_type = std::string(oci::kManifestType),
                           .digest = one,
                           .size = 1,
                           .platform = oci::Platform{.os = os, .architecture = architecture, .variant = ""}};
  };
  const std::string index = oci::write_index(
      {.media_type = std::string(oci::kIndexType),
       .manifests = {descriptor("linux", "amd64"), descriptor("linux", "arm64"), descriptor("unknown", "unknown")}});
  there_.add_bytes("manifests/2", index);
  auto lock = pin("2");
  ASSERT_TRUE(lock) << to_string(lock.error());
  EXPECT_EQ(lock->digest, oci::describe(index, oci::kIndexType).digest);
  EXPECT_EQ(lock->platforms, (std::map<std::string, std::string>{{"linux/amd64", one}, {"linux/arm64", one}}));
}

TEST_F(ImagePinTest, WhatIsNoImageIsRefused) {
  EXPECT_EQ(pin("none").error().code, Code::not_found);
  image("3", "{}");
  EXPECT_EQ(pin("3").error().message, name("3") + " is no image: its config names no platform");
  EXPECT_EQ(pin_image(
                disk_, clock_, [](const std::string&) { return std::nullopt; }, "UPPER:::")
                .error()
                .code,
            Code::invalid);
}

}  // namespace image_pin_test
}  // namespace sluice::deploy
