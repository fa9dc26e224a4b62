// Packing folders: the same bytes whatever the order, and nothing left when it fails.
#include "bundle/archive/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_folder.h"
#include "bundle/archive/testing_archives.h"

namespace sluice::bundle {
namespace pack_test {

using ::testing::ElementsAre;

void write(Disk& disk, const std::string& path, std::string_view content, uint32_t mode = 0644) {
  ASSERT_TRUE(write_atomically(disk, path, content, mode));
}

void fill(Disk& disk, const std::string& root) {
  ASSERT_TRUE(disk.make_folder(root, 0755));
  ASSERT_TRUE(disk.make_folder(root + "/bin", 0755));
  write(disk, root + "/bin/app", "hello", 0755);
  write(disk, root + "/data", std::string(300'000, 'd'));
  ASSERT_TRUE(disk.symlink("bin/app", root + "/current"));
}

const std::vector<std::string> kPaths = {"data", "current", "bin/app"};

TEST(Pack, GivesTheTreeAndBothDigests) {
  VolatileDisk disk;
  fill(disk, "/src");
  auto packed = pack(disk, "/src", kPaths, "/out");
  ASSERT_TRUE(packed) << packed.error().message;
  Tree expected;
  expected.add(tree_file("bin/app", "hello", kExecutableMode));
  expected.add(tree_file("data", std::string(300'000, 'd')));
  expected.add(tree_symlink("current", "bin/app"));
  EXPECT_EQ(packed->tree, expected);
  EXPECT_EQ(packed->tree_digest, expected.digest());
  EXPECT_EQ(packed->archive_sha256, *sha256_of_file(disk, "/out"));
  EXPECT_EQ(packed->archive_bytes, disk.stat("/out", FollowLinks::no)->size);
  EXPECT_EQ(disk.stat("/out", FollowLinks::no)->mode, 0644u);
  EXPECT_EQ(*tree_of_archive(disk, "/out"), expected);
  EXPECT_EQ(*tree_of_folder(disk, "/src", kPaths), expected);
}

TEST(Pack, GivesTheSameBytesInAnyOrderPlaceModeAndNumberOfThreads) {
  TestingFolder folder;
  RealDisk disk;
  fill(disk, folder.path("one"));
  auto one = pack(disk, folder.path("one"), kPaths, folder.path("one.out"));
  ASSERT_TRUE(one);
  mode_t before = ::umask(0077);
  ASSERT_TRUE(disk.make_folder(folder.path("deep"), 0755));
  fill(disk, folder.path("deep/two"));
  ASSERT_TRUE(disk.chmod(folder.path("deep/two/data"), 0660));
  ASSERT_TRUE(disk.chmod(folder.path("deep/two/bin/app"), 0700));
  auto two = pack(disk, folder.path("deep/two"), {"bin/app", "bin", "current", "data"}, folder.path("two.out"),
                  {.workers = 1});
  ::umask(before);
  ASSERT_TRUE(two);
  EXPECT_EQ(one->tree_digest, two->tree_digest);
  EXPECT_EQ(one->archive_sha256, two->archive_sha256);
}

TEST(Pack, RefusesWhatCouldNotBeUnpacked) {
  VolatileDisk disk;
  fill(disk, "/src");
  ASSERT_TRUE(disk.symlink("../out", "/src/escape"));
  auto escape = pack(disk, "/src", {"escape"}, "/out");
  ASSERT_FALSE(escape);
  EXPECT_EQ(escape.error().message, R"(/src: "escape": the symlink leads out of the archive: "../out")");
  write(disk, "/src/A", "");
  write(disk, "/src/a", "");
  auto cases = pack(disk, "/src", {"A", "a"}, "/out");
  ASSERT_FALSE(cases);
  EXPECT_EQ(cases.error().message, R"(/src: "a": it differs from "A" only in case or accents)");
  EXPECT_FALSE(pack(disk, "/src", {"missing"}, "/out"));
  EXPECT_EQ(disk.list("/")->size(), 1u) << "nothing is left";
}

class Recorder final : public PackWatcher {
 public:
  Result<void> begin_file(const std::string& path) override {
    seen.push_back(path);
    return {};
  }
  Result<void> content(std::string_view piece) override {
    bytes += piece.size();
    if (bytes > most) return Error{.message = "enough"};
    return {};
  }
  Result<void> end_file() override { return {}; }

  std::vector<std::string> seen;
  size_t bytes = 0;
  size_t most = 1 << 30;
};

TEST(Pack, ShowsFilesToItsWatcherWhoMayEndIt) {
  VolatileDisk disk;
  fill(disk, "/src");
  Recorder watcher;
  ASSERT_TRUE(pack(disk, "/src", kPaths, "/out", {.watcher = &watcher}));
  EXPECT_THAT(watcher.seen, ElementsAre("bin/app", "data"));
  EXPECT_EQ(watcher.bytes, 300'005u);
  watcher.most = watcher.bytes;
  auto ended = pack(disk, "/src", kPaths, "/other", {.watcher = &watcher});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "enough");
  EXPECT_FALSE(*disk.exists("/other"));
}

TEST(Pack, LeavesNothingWhenTheDiskFails) {
  for (uint64_t at = 1;; ++at) {
    VolatileDisk under;
    fill(under, "/src");
    FaultyDisk disk(under, {.kind = FaultKind::fail, .at = at});
    auto packed = pack(disk, "/src", kPaths, "/out", {.workers = 1});
    if (packed) {
      EXPECT_GT(at, 20u);
      break;
    }
    bool only_last_sync = *under.exists("/out");
    EXPECT_EQ(under.list("/")->size(), only_last_sync ? 2u : 1u) << at << ": " << packed.error().message;
  }
}

// Whoever packs it could not open it again.
TEST(Pack, RefusesWhatEveryReaderWouldTakeForABomb) {
  VolatileDisk disk;
  ASSERT_TRUE(disk.make_folder("/src", 0755));
  ASSERT_TRUE(write_atomically(disk, "/src/seed.db", std::string(3 << 20, '\0'), 0644));
  const ArchiveLimits tight{.max_ratio = 200, .ratio_free_bytes = 1 << 20};
  auto packed = pack(disk, "/src", {"seed.db"}, "/out", {.limits = tight});
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().code, Code::limit);
  EXPECT_EQ(packed.error().message,
            "/src: its contents are more than 200 times the archive's size, which every reader takes for a bomb");
  EXPECT_EQ(disk.list("/")->size(), 1u) << "nothing is left";
  packed = pack(disk, "/src", {"seed.db"}, "/out", {.limits = {.ratio_free_bytes = 3 << 20}});
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(tree_of_archive(disk, "/out", {.limits = {.ratio_free_bytes = 3 << 20}})->digest(), packed->tree_digest);
}

}  // namespace pack_test
}  // namespace sluice::bundle
