// What is known of an archive after one reading.
#include "bundle/archive/inspect.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "bundle/archive/testing_archives.h"

namespace sluice::bundle {
namespace inspect_test {

constexpr std::string_view kManifest = "name: shop\nversion: \"1.2.0\"\nrun: [./app]\n";

TEST(Inspect, TellsFormatDigestsAndManifest) {
  VolatileDisk disk;
  std::string image = squash_of({{"bundle.yaml", std::string(kManifest)}, {"sub/bundle.yaml", "other"}});
  ASSERT_TRUE(write_atomically(disk, "/shop.bundle", image, 0644));
  auto inspected = inspect_archive(disk, "/shop.bundle");
  ASSERT_TRUE(inspected) << inspected.error().message;
  EXPECT_EQ(inspected->format, ArchiveFormat::squashfs);
  EXPECT_EQ(inspected->archive_bytes, image.size());
  EXPECT_EQ(inspected->archive_sha256, crypto::to_hex(crypto::sha256(image)));
  EXPECT_EQ(inspected->tree.find("sub/bundle.yaml")->size, 5U);
  EXPECT_EQ(inspected->manifest_text, kManifest);
  EXPECT_EQ(manifest_of(*inspected, "/shop.bundle")->name.text, "shop");
}

TEST(Inspect, AnArchiveWithoutAManifestIsNoBundle) {
  VolatileDisk disk;
  ASSERT_TRUE(write_atomically(disk, "/a.tar", tar_of({{.name = "a", .content = "x"}}), 0644));
  auto inspected = inspect_archive(disk, "/a.tar");
  ASSERT_TRUE(inspected) << inspected.error().message;
  EXPECT_EQ(inspected->format, ArchiveFormat::tar);
  EXPECT_EQ(manifest_of(*inspected, "/a.tar").error().message, "/a.tar has no bundle.yaml: it is no bundle");
}

TEST(Inspect, SaysWhereAManifestInsideIsWrong) {
  VolatileDisk disk;
  ASSERT_TRUE(write_atomically(disk, "/a.tar", tar_of({{.name = "bundle.yaml", .content = "name: Shop\n"}}), 0644));
  auto manifest = manifest_of(*inspect_archive(disk, "/a.tar"), "/a.tar");
  EXPECT_EQ(to_string(manifest.error()).substr(0, 37), "/a.tar!bundle.yaml:1:1: /name: \"Shop\"");
}

TEST(Inspect, AManifestThatIsTooLargeIsRefusedAndNotKept) {
  VolatileDisk disk;
  std::string large(kMaxManifestBytes + 100'000, '#');
  ASSERT_TRUE(write_atomically(disk, "/a.tar", tar_of({{.name = "bundle.yaml", .content = large}}), 0644));
  auto inspected = inspect_archive(disk, "/a.tar");
  ASSERT_TRUE(inspected);
  EXPECT_EQ(inspected->manifest_text->size(), kMaxManifestBytes + 1);
  EXPECT_EQ(manifest_of(*inspected, "/a.tar").error().code, Code::limit);
}

TEST(Inspect, AFolderWithoutAManifestIsToldHowToGetOne) {
  VolatileDisk disk;
  ASSERT_TRUE(disk.make_folder("/shop", 0755));
  Error error = manifest_of_folder(disk, "/shop").error();
  EXPECT_EQ(error.message, "there is no /shop/bundle.yaml");
  EXPECT_EQ(error.next, "sluice init /shop writes one");
  EXPECT_EQ(error.code, Code::not_found);
  error = manifest_of_folder(disk, "/none").error();
  EXPECT_EQ(error.message, "there is no folder /none");
  EXPECT_EQ(error.next, "");
}

}  // namespace inspect_test
}  // namespace sluice::bundle
