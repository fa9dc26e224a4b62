// A layout that is written here, and the tar that is made of it, read by hand.
#include "oci/layout.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::oci {
namespace layout_test {

class LayoutTest : public testing::Test {
 protected:
  LayoutTest() {
    for (const char* each : {"image", "image/blobs", "image/blobs/sha256"}) {
      EXPECT_TRUE(disk_.make_folder(folder_.path(each), 0755));
    }
  }
  Descriptor put(const std::string& bytes, std::string_view type) {
    Descriptor described = describe(bytes, type);
    EXPECT_TRUE(write_atomically(disk_, root_ + "/blobs/sha256/" + described.digest.substr(7), bytes, 0644));
    return described;
  }
  Descriptor image(const std::string& architecture, bool with_platform) {
    const std::string config = R"({"os":"linux","architecture":")" + architecture + "\"}";
    const Manifest manifest{.media_type = std::string(kManifestType),
                            .config = put(config, "application/vnd.oci.image.config.v1+json"),
                            .layers = {put("layer of " + architecture, "application/vnd.oci.image.layer.v1.tar")}};
    Descriptor described = put(write_manifest(manifest), kManifestType);
    if (with_platform) described.platform = Platform{.os = "linux", .architecture = architecture, .variant = ""};
    return described;
  }
  void index(const std::vector<Descriptor>& manifests) {
    const std::string text = write_index({.media_type = std::string(kIndexType), .manifests = manifests});
    EXPECT_TRUE(write_atomically(disk_, root_ + "/index.json", text, 0644));
  }

  RealDisk disk_;
  TestingFolder folder_;
  const std::string root_ = folder_.path("image");
  const Platform arm_{.os = "linux", .architecture = "arm64", .variant = ""};
};

TEST_F(LayoutTest, FindsTheImageOfAPlatform) {
  const Descriptor arm = image("arm64", true);
  index({image("amd64", true), arm});
  auto found = image_in(disk_, root_, arm_);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->digest, arm.digest);
  index({image("amd64", true)});
  EXPECT_EQ(image_in(disk_, root_, arm_).error().message, root_ + " has no image for linux/arm64");
}

TEST_F(LayoutTest, LooksIntoConfigsAndInnerIndexes) {
  const Descriptor arm = image("arm64", false);
  index({image("amd64", false), arm});
  EXPECT_EQ(image_in(disk_, root_, arm_)->digest, arm.digest);
  const Descriptor inner = put(write_index({.media_type = std::string(kIndexType), .manifests = {arm}}), kIndexType);
  index({inner});
  EXPECT_EQ(image_in(disk_, root_, arm_)->digest, arm.digest);
}

TEST_F(LayoutTest, RefusesWhatIsNone) {
  EXPECT_EQ(image_in(disk_, root_, arm_).error().message, root_ + " is no OCI layout: it has no index.json");
  EXPECT_TRUE(write_atomically(disk_, root_ + "/index.json", "[]", 0644));
  EXPECT_EQ(image_in(disk_, root_, arm_).error().code, Code::invalid);
  const Descriptor arm = image("arm64", true);
  index({arm});
  EXPECT_TRUE(write_atomically(disk_, root_ + "/blobs/sha256/" + arm.digest.substr(7), "other", 0644));
  EXPECT_EQ(image_in(disk_, root_, arm_).error().code, Code::verification_failed);
}

TEST_F(LayoutTest, BecomesATarThatEnginesLoad) {
  index({image("arm64", true)});
  auto found = image_in(disk_, root_, arm_);
  ASSERT_TRUE(found);
  auto into = [&] {
    auto file = disk_.open(folder_.path("image.tar"), {.write = true, .create = true, .truncate = true});
    EXPECT_TRUE(file);
    return *std::move(file);
  };
  ASSERT_TRUE(write_docker_archive(disk_, root_, *found, "sluice.local/h:1", *into()));
  auto tar = read_file(disk_, folder_.path("image.tar"), 1 << 20);
  ASSERT_TRUE(tar);
  const std::string config = found->manifest.config.digest.substr(7),
                    layer = found->manifest.layers[0].digest.substr(7);
  EXPECT_EQ(tar->size() % 512, 0u);
  EXPECT_TRUE(tar->starts_with(config + ".json"));
  EXPECT_EQ(tar->substr(257, 5), "ustar");
  EXPECT_EQ(tar->substr(512, found->manifest.config.size), R"({"os":"linux","architecture":"arm64"})");
  EXPECT_NE(tar->find(R"([{"Config":")" + config + R"(.json","RepoTags":["sluice.local/h:1"],"Layers":[")" + layer +
                      R"(.tar"]}])"),
            std::string::npos);
  EXPECT_TRUE(write_atomically(disk_, root_ + "/blobs/sha256/" + layer, "layer of others", 0644));
  EXPECT_EQ(write_docker_archive(disk_, root_, *found, "a:1", *into()).error().code, Code::verification_failed);
}

TEST(Layout, PlatformsFit) {
  const Platform arm7{.os = "linux", .architecture = "arm", .variant = "v7"};
  EXPECT_TRUE(fits(arm7, {.os = "linux", .architecture = "arm", .variant = ""}));
  EXPECT_FALSE(fits(arm7, {.os = "linux", .architecture = "arm", .variant = "v6"}));
  EXPECT_FALSE(fits(arm7, {.os = "linux", .architecture = "arm64", .variant = ""}));
  EXPECT_FALSE(platform_in("nonsense"));
  EXPECT_EQ(platform_in(R"({"os":"linux","architecture":"arm","variant":"v7"})").value(), arm7);
}

}  // namespace layout_test
}  // namespace sluice::oci
