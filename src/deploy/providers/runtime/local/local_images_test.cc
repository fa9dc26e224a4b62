// What is asked of an engine for an image, and what its answers mean. Real engines are asked in tests/container.
#include "deploy/providers/runtime/local/local_images.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/manifest/image_lock.h"
#include "container/testing_engine.h"

namespace sluice::deploy::local_runtime {
namespace local_images_test {

const std::string kDigest = "sha256:" + std::string(64, 'a'), kId = "sha256:" + std::string(64, 'b');
const std::string kImage = "GET /v1.41/images/registry.example/shop%40sha256";

class LocalImagesTest : public testing::Test {
 protected:
  LocalImagesTest() {
    engine_.greet();
    lock("linux/amd64");
  }
  void lock(const std::string& platform) {
    const bundle::ImageLock lock{
        .reference = "registry.example/shop:1", .digest = kDigest, .platforms = {{platform, kDigest}}};
    EXPECT_TRUE(write_atomically(disk_, folder_.path("image.lock.json"), bundle::print_image_lock(lock), 0644));
  }
  std::variant<ReadyImage, ImageTrouble> ready() {
    auto manifest = bundle::parse_manifest("name: shop\nversion: \"1\"\nimage: registry.example/shop:1\n");
    return images_.ready({.manifest = *manifest,
                          .root = folder_.path(),
                          .engine = engine_.socket(),
                          .revision = "r1",
                          .login = oci::Login{.user = "ci", .password = "word"}},
                         [] { return false; });
  }
  ImageTrouble::Kind trouble() {
    auto found = ready();
    return std::holds_alternative<ReadyImage>(found) ? ImageTrouble::Kind::bundle : std::get<ImageTrouble>(found).kind;
  }
  void pull_says(const std::string& error) {
    engine_.answer(kImage, "404 Not Found", R"({"message":"no such image"})");
    engine_.answer("POST /v1.41/images/create", "200 OK", "{\"error\":\"" + error + "\"}\n");
  }

  RealDisk disk_;
  RealClock clock_;
  RealRandom random_;
  TestingFolder folder_;
  container::TestingEngine engine_;
  LocalImages images_{disk_, clock_, random_, {.folder = folder_.path("images"), .variables = {}}};
};

TEST_F(LocalImagesTest, WhatIsThereIsNotPulled) {
  engine_.answer(kImage, "200 OK", R"({"Id":")" + kId + R"(","Config":{"User":"1000"}})");
  auto found = ready();
  ASSERT_TRUE(std::holds_alternative<ReadyImage>(found)) << std::get<ImageTrouble>(found).reason;
  EXPECT_EQ(std::get<ReadyImage>(found).id, kId);
  EXPECT_EQ(std::get<ReadyImage>(found).user, "1000");
  EXPECT_EQ(engine_.asked().size(), 2u) << "its version and the image";
}

TEST_F(LocalImagesTest, TellsTroublesApart) {
  using Kind = ImageTrouble::Kind;
  pull_says("manifest unknown");
  EXPECT_EQ(trouble(), Kind::not_found);
  pull_says("unauthorized: authentication required");
  EXPECT_EQ(trouble(), Kind::denied);
  pull_says("connection refused");
  EXPECT_EQ(trouble(), Kind::pull_failed);
  lock("linux/s390x");
  EXPECT_EQ(trouble(), Kind::platform);
  EXPECT_EQ(std::get<ImageTrouble>(ready()).reason,
            "registry.example/shop:1 is not made for linux/amd64, which this machine is, but for linux/s390x");
  EXPECT_TRUE(disk_.remove(folder_.path("image.lock.json")));
  EXPECT_EQ(trouble(), Kind::bundle);
  engine_.answer("GET /v1.41/_ping", "500 Internal Server Error", R"({"message":"ill"})");
  lock("linux/amd64");
  EXPECT_EQ(trouble(), Kind::engine);
}

TEST_F(LocalImagesTest, AHomeHasOneIdForEver) {
  auto id = images_.home_id();
  ASSERT_TRUE(id) << id.error().message;
  EXPECT_EQ(id->size(), 26u);
  EXPECT_EQ(*images_.home_id(), *id);
}

TEST_F(LocalImagesTest, TheEngineIsWhereItIsNamed) {
  EXPECT_EQ(*images_.socket("unix:///a/b"), "/a/b");
  auto with = [&](const std::string& host) {
    return LocalImages(disk_, clock_, random_,
                       {.folder = folder_.path(),
                        .variables =
                            [host](const std::string& name) {
                              return name == "DOCKER_HOST" ? std::optional(host) : std::nullopt;
                            }})
        .socket("");
  };
  EXPECT_EQ(*with("unix:///run/x.sock"), "/run/x.sock");
  EXPECT_EQ(with("tcp://engine.example:2375").error().code, Code::unavailable);
}

TEST_F(LocalImagesTest, RemovesOnlyWhatThisHomeBrought) {
  EXPECT_TRUE(images_.forget({}, engine_.socket())->empty()) << "a home that brought none asks nobody";
  EXPECT_TRUE(engine_.asked().empty());
  const std::string mark = "sluice.local/" + *images_.home_id() + ":" + std::string(32, 'b');
  engine_.answer("GET /v1.41/images/json", "200 OK",
                 R"([{"Id":")" + kId + R"(","RepoTags":[")" + mark + R"("]},{"Id":")" + kDigest +
                     R"(","RepoTags":["sluice.local/other:aa"]}])");
  engine_.answer("GET /v1.41/containers/json", "200 OK", "[]");
  engine_.answer("DELETE /v1.41/images", "200 OK", "[]");
  engine_.answer(kImage, "200 OK", R"({"Id":")" + kId + R"("})");
  ASSERT_TRUE(std::holds_alternative<ReadyImage>(ready()));
  EXPECT_TRUE(images_.forget({"r1", "r2"}, engine_.socket())->empty()) << "a revision uses it";
  EXPECT_EQ(*images_.forget({}, engine_.socket()), std::vector<std::string>{kId});
  engine_.answer("GET /v1.41/containers/json", "200 OK", R"([{"Id":"1","ImageID":")" + kId + "\"}]");
  EXPECT_TRUE(images_.forget({}, engine_.socket())->empty()) << "a container uses it";
}

}  // namespace local_images_test
}  // namespace sluice::deploy::local_runtime
